"""What an experiment measures: how far two attentions, or an attention and dense, lie apart."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from pagedkv.cache import Attended
from pagedkv.dense_reference import DenseResult
from pagedkv.trace.errors import worst

Weights = npt.NDArray[np.floating]  # [num_heads, positions], each row sums to 1 or holds NaN


def largest_difference(one: Attended, other: Attended | DenseResult) -> float:
    """The largest difference of weights and outputs, a plain number; NaN if one of them is NaN."""
    return worst((weight_difference(one, other), output_difference(one, other)))


def weight_difference(one: Attended, other: Attended | DenseResult) -> float:
    """The largest difference of weights; a position that one of them lacks weighs 0 there."""
    width = max(one.weights.shape[1], other.weights.shape[1])
    return _largest(widened(one.weights, width) - widened(other.weights, width))


def output_difference(one: Attended, other: Attended | DenseResult) -> float:
    """The largest difference of outputs [num_heads, head_dim]."""
    return _largest(one.out - other.out)


def is_identical(one: Attended, other: Attended) -> bool:
    """Whether outputs and weights, all float32, agree in shape and in every bit.

    Compared as bits, not as numbers: -0.0 is not 0.0, and a NaN agrees with a NaN of the same bits
    and with no other. Raises RuntimeError for a dtype that has no 32 bits.
    """
    return _same_bits(one.out, other.out) and _same_bits(one.weights, other.weights)


def widened(weights: torch.Tensor, width: int) -> torch.Tensor:
    """``weights`` [num_heads, n] with zeros behind, [num_heads, width]."""
    return torch.nn.functional.pad(weights, (0, width - weights.shape[1]))


def as_array(tensor: torch.Tensor) -> npt.NDArray[Any]:
    """A copy for a figure, of the same shape and dtype, without torch; nobody can change it."""
    array: npt.NDArray[Any] = tensor.numpy().copy()
    array.setflags(write=False)
    return array


def _same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.equal(one.view(torch.int32), other.view(torch.int32))


def _largest(difference: torch.Tensor) -> float:
    return float(difference.abs().max())
