"""A context split among programs gives what one program gives, empty splits included."""

import pytest
import torch
from scattered import assert_equals_dense, scatter

from kernels import attention_launch

SPLITS = [1, 2, 3, 8]


def attend(case, num_splits, weights=None):
    longest, scale = int(case.context_lens.max()), case.query.shape[-1] ** -0.5
    return attention_launch.paged_attention(*case.arguments, longest, scale, weights, num_splits)


def with_weights(case, num_splits):
    longest = int(case.context_lens.max())
    weights = torch.zeros(*case.query.shape[:2], longest)
    return attend(case, num_splits, weights), weights


@pytest.mark.parametrize("num_splits", SPLITS)
@pytest.mark.parametrize(
    "lengths", [[1], [9, 6, 0, 1], [333], [1002, 300, 17, 5]], ids=lambda lengths: str(lengths)
)
def test_splits_join_to_one_softmax(lengths, num_splits):
    case = scatter(lengths, block_size=5)
    assert_equals_dense(case, *with_weights(case, num_splits))


@pytest.mark.parametrize(("num_splits", "head_dim"), [(66, 32), (130, 128), (300, 8)])
def test_many_splits_are_joined_a_chunk_at_a_time(num_splits, head_dim):
    """With a tile of 256 no context here fills more than a few of them; all others are empty."""
    case = scatter([1002, 300, 0, 5], block_size=16, head_dim=head_dim)
    assert_equals_dense(case, *with_weights(case, num_splits))


@pytest.mark.parametrize("num_splits", [66, 130, 2048])
@pytest.mark.parametrize("with_empty", [False, True])
def test_every_split_of_many_counts(num_splits, with_empty):
    """Sums, maxima and denominators as splits leave them, joined in one step against float64."""
    generator = torch.Generator().manual_seed(num_splits)
    parts = torch.randn(num_splits, 3, 4, 16, generator=generator)
    sums = torch.rand(num_splits, 3, 4, 2, generator=generator) * 9 + 1  # maximum, denominator
    if with_empty:
        sums[1::3, ..., 0] = torch.finfo(torch.float32).min  # as an empty split leaves it,
        sums[1::3, ..., 1] = 0.0
        parts[1::3] = 0.0
    lens = torch.ones(3, dtype=torch.int32)
    tables = attention_launch.Tables(lens[:, None], 1, lens, 1)
    out = attention_launch._reduce(parts, sums, tables, torch.float32, None)
    maxima, denominators = sums.double().unbind(-1)
    factors = (maxima - maxima.amax(0)).exp2()  # [splits, rows, heads]
    total = (denominators * factors).sum(0)[..., None]  # [rows, heads, 1]
    expected = (parts.double() * factors[..., None]).sum(0) / total
    torch.testing.assert_close(out.double(), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("num_splits", SPLITS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float16, 3e-3), (torch.bfloat16, 1.6e-2)])
def test_half_precision(dtype, tolerance, num_splits):
    case = scatter([700, 21], block_size=16, dtype=dtype)
    assert_equals_dense(case, *with_weights(case, num_splits), tolerance=tolerance)


@pytest.mark.parametrize("num_splits", SPLITS)
def test_asking_for_weights_does_not_change_the_output(num_splits):
    case = scatter([700, 21, 0], block_size=16)
    assert torch.equal(attend(case, num_splits), with_weights(case, num_splits)[0])


@pytest.mark.parametrize("num_splits", SPLITS)
@pytest.mark.parametrize("strong", [3, 690])
def test_one_split_may_hold_nearly_all_the_weight(strong, num_splits):
    case = scatter([700], block_size=4, num_heads=2, num_kv_heads=2, head_dim=8)
    block, offset = case.block_tables[0, strong // 4], strong % 4
    case.keys[0][strong] = case.query[0] * 20
    case.k_cache[block, offset] = case.keys[0][strong]
    assert_equals_dense(case, *with_weights(case, num_splits))


@pytest.mark.parametrize("num_splits", SPLITS)
def test_extreme_scores_stay_finite(num_splits):
    """One key scores -524,288 beside others of 0: its weight is exactly 0."""
    case = scatter([600], block_size=16, num_heads=1, num_kv_heads=1, head_dim=16)
    case.query.fill_(1.0)
    case.keys[0].zero_()
    case.keys[0][7] = -131072.0  # times 16 dims, times a scale of a quarter
    for position in range(600):
        block = case.block_tables[0, position // 16]
        case.k_cache[block, position % 16] = case.keys[0][position]
    out, weights = with_weights(case, num_splits)
    assert weights[0, 0, 7] == 0
    assert_equals_dense(case, out, weights)
