"""Bit for bit is bit for bit: zeros have signs, and a NaN is compared as it is stored."""

import math

import pytest
import torch

from pagedkv.cache import Attended
from pagedkv.experiments.judging import is_identical, largest_difference, weight_difference

WEIGHTS = torch.tensor([[0.25, 0.75, 0.0]])
OUT = torch.tensor([[1.0, 0.0]])


def attended(out=OUT, weights=WEIGHTS):
    return Attended(out.clone(), weights.clone())


def from_bits(*bits):
    return torch.tensor([bits], dtype=torch.int32).view(torch.float32)


def test_the_same_bits_are_identical():
    assert is_identical(attended(), attended())


@pytest.mark.parametrize(
    "other",
    [{"out": torch.tensor([[1.0, -0.0]])}, {"weights": torch.tensor([[0.25, 0.75, -0.0]])}],
    ids=["out", "weights"],
)
def test_a_zero_of_the_other_sign_is_not_identical(other):
    assert not is_identical(attended(**other), attended())
    assert largest_difference(attended(**other), attended()) == 0  # as numbers they are the same


@pytest.mark.parametrize("part", ["out", "weights"])
def test_one_bit_is_enough(part):
    own = {"out": OUT, "weights": WEIGHTS}[part]
    bits = own.view(torch.int32).clone()
    bits[0, 0] += 1
    assert not is_identical(attended(**{part: bits.view(torch.float32)}), attended())


def test_nan_is_compared_by_its_bits():
    quiet, payload = 0x7FC00000, 0x7FC00001
    one, other = from_bits(quiet, 0), from_bits(payload, 0)
    assert one.isnan()[0, 0] and other.isnan()[0, 0]
    assert is_identical(attended(out=one), attended(out=one))
    assert not is_identical(attended(out=one), attended(out=other))
    assert not is_identical(attended(out=one), attended())
    assert math.isnan(largest_difference(attended(out=one), attended(out=one)))


def test_another_shape_is_not_identical():
    wider = torch.nn.functional.pad(WEIGHTS, (0, 1))
    assert not is_identical(attended(weights=wider), attended())
    assert weight_difference(attended(weights=wider), attended()) == 0


def test_numbers_of_another_width_are_refused():
    with pytest.raises(RuntimeError):
        is_identical(attended(out=OUT[:, :1].half()), attended())
