"""What an experiment measures: how far two attentions, or an attention and dense, lie apart."""

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
    """Whether outputs and weights agree in every bit but the sign of zero; NaN never agrees."""
    return torch.equal(one.out, other.out) and torch.equal(one.weights, other.weights)


def widened(weights: torch.Tensor, width: int) -> torch.Tensor:
    """``weights`` [num_heads, n] with zeros behind, [num_heads, width]."""
    return torch.nn.functional.pad(weights, (0, width - weights.shape[1]))


def as_array(weights: torch.Tensor) -> Weights:
    """A copy for a figure, which knows no torch; nobody can change it."""
    array: Weights = weights.numpy().copy()
    array.setflags(write=False)
    return array


def _largest(difference: torch.Tensor) -> float:
    return float(difference.abs().max())
