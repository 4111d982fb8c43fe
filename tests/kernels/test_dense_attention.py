"""The oracle itself, against the formula written out in Python numbers."""

import math

import pytest
import torch

import kernels


def by_hand(query, k, v, scale):
    """One head at a time, one number at a time."""
    num_heads = len(query)
    group_size = num_heads // k.shape[1]
    out, weights = [], []
    for head in range(num_heads):
        q, keys, values = query[head].tolist(), k[:, head // group_size], v[:, head // group_size]
        scores = [scale * math.fsum(map(float.__mul__, q, key)) for key in keys.tolist()]
        exps = [math.exp(score - max(scores)) for score in scores]
        weights.append([e / math.fsum(exps) for e in exps])
        columns = values.T.tolist()
        out.append([math.fsum(map(float.__mul__, weights[-1], column)) for column in columns])
    return torch.tensor(out, dtype=torch.float64), torch.tensor(weights, dtype=torch.float64)


@pytest.mark.parametrize(("num_heads", "num_kv_heads"), [(8, 8), (8, 2), (8, 1), (4, 2)])
@pytest.mark.parametrize("n", [1, 9])
def test_it_is_the_formula(n, num_heads, num_kv_heads):
    generator = torch.Generator().manual_seed(n)
    query = torch.randn(num_heads, 32, generator=generator)
    k, v = torch.randn(2, n, num_kv_heads, 32, generator=generator)
    out, weights = kernels.dense_attention(query, k, v)
    expected_out, expected_weights = by_hand(query, k, v, 32**-0.5)
    assert out.dtype == weights.dtype == torch.float64
    torch.testing.assert_close(out, expected_out, atol=1e-14, rtol=0)
    torch.testing.assert_close(weights, expected_weights, atol=1e-14, rtol=0)


def test_numbers_that_can_be_checked_in_the_head():
    # Scores 0 and ln 3: weights 1/4 and 3/4.
    query = torch.tensor([[1.0]])
    k = torch.tensor([0.0, math.log(3)], dtype=torch.float64).reshape(2, 1, 1)
    v = torch.tensor([4.0, 8.0]).reshape(2, 1, 1)
    out, weights = kernels.dense_attention(query, k, v)
    torch.testing.assert_close(weights, torch.tensor([[0.25, 0.75]], dtype=torch.float64))
    torch.testing.assert_close(out, torch.tensor([[7.0]], dtype=torch.float64))


def test_scale_replaces_the_default():
    query, k, v = torch.randn(4, 32), torch.randn(5, 2, 32), torch.randn(5, 2, 32)
    _, weights = kernels.dense_attention(query, k, v, scale=0.0)
    torch.testing.assert_close(weights, torch.full((4, 5), 0.2, dtype=torch.float64))


def test_no_positions_give_zeros():
    none = torch.empty(0, 2, 32)
    out, weights = kernels.dense_attention(torch.ones(4, 32), none, none)
    assert torch.equal(out, torch.zeros(4, 32, dtype=torch.float64))
    assert weights.shape == (4, 0)


@pytest.mark.parametrize(
    ("query", "k", "v", "message"),
    [
        ((32,), (5, 2, 32), (5, 2, 32), r"query has shape \[32\]"),
        ((4, 32), (5, 2, 16), (5, 2, 16), r"k has shape \[5, 2, 16\].*head_dim = 32"),
        ((4, 32), (5, 64), (5, 64), r"k has shape \[5, 64\]"),
        ((4, 32), (5, 2, 32), (4, 2, 32), r"v has shape \[4, 2, 32\].*\[5, 2, 32\]"),
        ((4, 32), (5, 3, 32), (5, 3, 32), r"query has 4 heads.*3 KV heads"),
        ((4, 32), (5, 0, 32), (5, 0, 32), r"query has 4 heads.*0 KV heads"),
    ],
)
def test_shapes_that_do_not_fit_are_named(query, k, v, message):
    with pytest.raises(ValueError, match=message):
        kernels.dense_attention(torch.zeros(query), torch.zeros(k), torch.zeros(v))


@pytest.mark.parametrize("scale", [float("inf"), float("nan")])
def test_a_scale_is_finite(scale):
    with pytest.raises(ValueError, match=f"scale is {scale}; it must be a finite number"):
        kernels.dense_attention(torch.ones(1, 8), *torch.ones(2, 3, 1, 8), scale=scale)


def test_what_is_no_tensor_is_named():
    with pytest.raises(ValueError, match="k is None; it must be a tensor"):
        kernels.dense_attention(torch.ones(1, 8), None, torch.ones(3, 1, 8))
