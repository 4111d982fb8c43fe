"""Paged attention equals the dense float64 oracle, whatever lies where it must not look."""

import math

import pytest
import torch
from scattered import BACKENDS, BLOCK_SIZES, assert_equals_dense, edge_lengths, scatter

import kernels

LENGTHS = [(b, n) for b in BLOCK_SIZES for n in edge_lengths(b)]
every_backend = pytest.mark.parametrize("backend", BACKENDS)


@every_backend
@pytest.mark.parametrize(("block_size", "context_len"), LENGTHS)
def test_one_context_around_every_block_edge(block_size, context_len, backend):
    case = scatter([context_len], block_size=block_size, seed=context_len)
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)


@every_backend
@pytest.mark.parametrize("block_size", [*BLOCK_SIZES, 6, 12, 31, 32])
def test_contexts_of_all_lengths_in_one_batch(block_size, backend):
    lengths = [*edge_lengths(block_size), 3 * block_size, 7 * block_size - 1]
    case = scatter(lengths, block_size=block_size, past_the_end=10**9, seed=block_size)
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)


@every_backend
@pytest.mark.parametrize("poison", [torch.nan, torch.inf, -torch.inf, 1e30])
def test_nothing_outside_the_contexts_counts(poison, backend):
    case = scatter([9, 6, 4, 1], poison=poison, past_the_end=3)
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)


@every_backend
@pytest.mark.parametrize("head_dim", [1, 8, 13, 32, 48, 80, 96, 256])
def test_any_head_dim(head_dim, backend):
    case = scatter([9, 5], head_dim=head_dim)
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)


@every_backend
@pytest.mark.parametrize(
    ("num_heads", "num_kv_heads"), [(8, 8), (8, 2), (8, 1), (4, 2), (6, 3), (5, 5), (7, 1), (1, 1)]
)
def test_any_grouping_of_heads(num_heads, num_kv_heads, backend):
    case = scatter([9, 4, 6], num_heads=num_heads, num_kv_heads=num_kv_heads)
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)


# The oracle gets the same rounded inputs, so what remains is the rounding of the output (fp16 half
# of 2**-10 of up to 4, bf16 half of 2**-7) and of the weights before the second product (fp16).
@every_backend
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float16, 3e-3), (torch.bfloat16, 1.6e-2)])
@pytest.mark.parametrize("head_dim", [13, 32])
def test_half_precision_is_within_its_own_rounding(dtype, tolerance, head_dim, backend):
    case = scatter([9, 21, 4], head_dim=head_dim, dtype=dtype)
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights, tolerance=tolerance)
    assert weights.dtype == torch.float32


@every_backend
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_sums_in_fp32(dtype, backend):
    # 2,048 equal values: a half-precision sum would stop growing long before it has them all.
    case = scatter([2048], block_size=16, num_heads=1, num_kv_heads=1, head_dim=8, dtype=dtype)
    case.query.zero_()
    case.v_cache.fill_(1.0)
    out = kernels.paged_attention(*case.arguments, backend=backend)
    torch.testing.assert_close(out.float(), torch.ones(1, 1, 8), atol=2e-3, rtol=0)


@every_backend
def test_bf16_output_is_rounded_to_the_nearest_and_not_truncated(backend):
    case = scatter([9, 21, 4], dtype=torch.bfloat16)
    out = kernels.paged_attention(*case.arguments, backend=backend).double()
    for row, (k, v) in enumerate(zip(case.keys, case.values, strict=True)):
        expected, _ = kernels.dense_attention(case.query[row], k, v)
        half_a_step = expected.abs() * 2**-8 + 1e-5  # 8 significant bits
        assert ((out[row] - expected).abs() <= half_a_step).all()


@every_backend
def test_contexts_longer_than_a_tile(backend):
    case = scatter([700, 1, 257, 256, 513], block_size=16, num_heads=2, num_kv_heads=1, head_dim=8)
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)


@every_backend
def test_a_maximum_that_rises_and_falls_from_tile_to_tile(backend):
    case = scatter([700, 700], block_size=4, num_heads=2, num_kv_heads=2, head_dim=8)
    for row, strong in enumerate((3, 690)):  # the largest score early in one row, late in the other
        block, offset = case.block_tables[row, strong // 4], strong % 4
        case.keys[row][strong] = case.query[row] * 20
        case.k_cache[block, offset] = case.keys[row][strong]
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)


@every_backend
def test_more_rows_than_one_program_takes(backend):
    lengths = [1 + (7 * i) % 40 for i in range(20)]
    lengths[10] = 250  # the longest sets the tile; beside it only a few pairs fit in a program
    case = scatter(lengths, num_heads=6, num_kv_heads=3, head_dim=80)
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)


@every_backend
@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0, -2.0])
def test_scale_replaces_the_default(scale, backend):
    case = scatter([9, 5])
    out = kernels.paged_attention(*case.arguments, scale=scale, backend=backend)
    assert_equals_dense(case, out, scale=scale)


@every_backend
def test_scores_far_apart_neither_overflow_nor_vanish(backend):
    case = scatter([21])
    case.query *= 300
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights, tolerance=1e-4)


@every_backend
def test_scores_far_below_zero_weigh_as_much_as_others(backend):
    case = scatter([3], num_heads=1, num_kv_heads=1, head_dim=8)
    case.query.fill_(1e16)
    case.keys[0].fill_(-1e15)
    case.k_cache[case.block_tables[0, 0], :3] = -1e15
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)
    torch.testing.assert_close(weights[0, 0], torch.full((3,), 1 / 3))


# Weights


@every_backend
def test_weights_sum_to_one_and_are_zero_past_the_context(backend):
    case = scatter([9, 1, 6])
    _, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert weights.shape == (3, 4, 9)
    assert weights.dtype == torch.float32
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 4))
    assert (weights[1, :, 1:] == 0).all() and (weights[2, :, 6:] == 0).all()
    assert (weights[1, :, :1] == 1).all() and (weights[2, :, :6] > 0).all()


@every_backend
def test_asking_for_weights_does_not_change_the_output(backend):
    case = scatter([9, 1, 6])
    with_weights, _ = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert torch.equal(with_weights, kernels.paged_attention(*case.arguments, backend=backend))


# Rows


@every_backend
@pytest.mark.parametrize("truncated", [True, False])
@pytest.mark.parametrize("n", [6, 17, 70])
def test_a_prompt_is_rows_that_see_one_position_more_each(n, truncated, backend):
    case = as_prompt(n, truncated)
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)


@every_backend
def test_a_prompt_beside_requests_that_decode(backend):
    prompt = as_prompt(40, truncated=True)
    case = scatter([9, 40, 5, 12], seed=3)
    first, rest = slice(0, 1), slice(2, 4)
    k, v = case.keys[1], case.values[1]
    table = case.block_tables[1:2].expand(40, -1)
    case.query = torch.cat([case.query[first], prompt.query, case.query[rest]])
    case.block_tables = torch.cat([case.block_tables[first], table, case.block_tables[rest]])
    case.context_lens = torch.tensor([9, *range(1, 41), 5, 12], dtype=torch.int32)
    case.keys[1:2] = [k[:n] for n in range(1, 41)]
    case.values[1:2] = [v[:n] for n in range(1, 41)]
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)


@every_backend
@pytest.mark.parametrize(
    "rows",
    [
        "A1 A4 A5 A8 A8 B2 B6 B7 B8 A3 A5 A0 B6 B8 B8 B1 B4",
        "A8 A2 B8 B8 B8 B8 B8 B8 B8",  # A2 fits before B8, but A8 does not
        "A4 B5 B6 B7 B8 B8 B8 B8 A8",
        "A1 A2 A3 A4 B5 B6 B7 B8",
    ],
)
def test_rows_that_share_a_first_block_and_part_in_the_second(rows, backend):
    case = as_fork(rows)
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)


@every_backend
def test_nan_inside_one_context_stays_there(backend):
    case = scatter([9, 6, 5])
    clean = kernels.paged_attention(*case.arguments, backend=backend)
    case.k_cache[case.block_tables[1, 0]] = torch.nan
    case.v_cache[case.block_tables[1, 0]] = torch.nan
    out = kernels.paged_attention(*case.arguments, backend=backend)
    assert out[1].isnan().all()
    assert torch.equal(out[[0, 2]], clean[[0, 2]])


@every_backend
def test_an_empty_context_gives_zeros_among_others(backend):
    case = scatter([9, 0, 5])
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert (out[1] == 0).all() and (weights[1] == 0).all()
    assert_equals_dense(case, out, weights)


@every_backend
def test_only_empty_contexts_give_zeros(backend):
    case = scatter([0, 0])
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert torch.equal(out, torch.zeros(2, 4, 32))
    assert weights.shape == (2, 4, 0)


@every_backend
def test_no_rows_at_all(backend):
    case = scatter([])
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert out.shape == (0, 4, 32)
    assert weights.shape == (0, 4, 0)


@every_backend
def test_a_pool_without_blocks_serves_empty_contexts(backend):
    cache = torch.empty(0, 4, 2, 32)
    tables, lengths = torch.empty(2, 0, dtype=torch.int32), torch.zeros(2, dtype=torch.int32)
    out = kernels.paged_attention(
        torch.ones(2, 4, 32), cache, cache, tables, lengths, backend=backend
    )
    assert torch.equal(out, torch.zeros(2, 4, 32))


# Layouts


def in_other_order(x: torch.Tensor, *order: int) -> torch.Tensor:
    """Equal to ``x``, with its axes laid out in memory in another order."""
    back = [order.index(i) for i in range(len(order))]
    return x.permute(*order).contiguous().permute(*back)


def every_second(x: torch.Tensor) -> torch.Tensor:
    """Equal to ``x``, with a hole after each element of its last axis."""
    return torch.stack([x, torch.zeros_like(x)], dim=-1).flatten(-2)[..., ::2]


def with_neighbours(x: torch.Tensor) -> torch.Tensor:
    """Equal to ``x``, as a slice of a larger tensor, like a part of a fused projection."""
    return torch.cat([x, x], dim=1)[:, : x.shape[1]]


LAYOUTS = {
    "query, heads first": ("query", lambda x: in_other_order(x, 1, 0, 2)),
    "query with holes": ("query", every_second),
    "query from a fused projection": ("query", with_neighbours),
    "K heads first": ("k_cache", lambda x: in_other_order(x, 0, 2, 1, 3)),
    "V heads first": ("v_cache", lambda x: in_other_order(x, 0, 2, 1, 3)),
    "K dims before offsets": ("k_cache", lambda x: in_other_order(x, 0, 2, 3, 1)),
    "K with holes": ("k_cache", every_second),
    "V with holes": ("v_cache", every_second),
    "K offsets first": ("k_cache", lambda x: in_other_order(x, 1, 0, 2, 3)),
    "tables with holes": ("block_tables", every_second),
    "tables column by column": ("block_tables", lambda x: in_other_order(x, 1, 0)),
    "tables from a wider array": ("block_tables", with_neighbours),
    "lengths with holes": ("context_lens", every_second),
}


@every_backend
@pytest.mark.parametrize("layout", LAYOUTS)
def test_inputs_need_not_be_contiguous(layout, backend):
    name, laid_out = LAYOUTS[layout]
    case = scatter([9, 1, 6])
    before = getattr(case, name)
    setattr(case, name, laid_out(before))
    assert getattr(case, name).stride() != before.stride()
    out, weights = kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    assert_equals_dense(case, out, weights)


@every_backend
def test_k_and_v_in_one_tensor(backend):
    case = scatter([9, 1, 6])
    both = torch.stack([case.k_cache, case.v_cache], dim=1)
    case.k_cache, case.v_cache = both[:, 0], both[:, 1]
    out = kernels.paged_attention(*case.arguments, backend=backend)
    assert_equals_dense(case, out)


@every_backend
def test_attention_leaves_its_inputs_as_they_were(backend):
    case = scatter([9, 1, 6])
    before = [x.clone() for x in case.arguments]
    kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
    for x, old in zip(case.arguments, before, strict=True):
        torch.testing.assert_close(x, old, atol=0, rtol=0, equal_nan=True)


@every_backend
def test_a_query_that_takes_part_in_autograd_is_fine(backend):
    case = scatter([9])
    case.query.requires_grad_()
    out = kernels.paged_attention(*case.arguments, backend=backend)
    assert not out.requires_grad
    assert_equals_dense(case, out)


@every_backend
def test_addresses_past_two_to_the_31(tmp_path, backend):
    # K and V share a pool in a sparse file: 4 GiB of addresses, a few pages of memory.
    case = scatter([5], block_size=16, dtype=torch.float16)
    shape = (2**31 // (16 * 2 * 32) + 16, 16, 2, 32)
    size = math.prod(shape)
    file = torch.from_file(str(tmp_path / "pool"), shared=True, size=size, dtype=torch.float16)
    pool = file.view(shape)
    pool[-1] = case.k_cache[case.block_tables[0, 0]]
    case.k_cache = case.v_cache = pool
    case.block_tables[0, 0] = len(pool) - 1
    case.values = case.keys
    out = kernels.paged_attention(*case.arguments, backend=backend)
    assert_equals_dense(case, out, tolerance=3e-3)


def as_prompt(n: int, truncated: bool):
    """Rows 1..n of one prompt; ``truncated`` tables name no block that the row does not reach."""
    case = scatter([n], seed=n)
    case.query = torch.randn(n, 4, 32, generator=torch.Generator().manual_seed(n))
    case.block_tables = case.block_tables.repeat(n, 1)
    case.context_lens = torch.arange(1, n + 1, dtype=torch.int32)
    if truncated:
        for row in range(n):
            case.block_tables[row, row // 4 + 1 :] = -1
    case.keys = [case.keys[0][: row + 1] for row in range(n)]
    case.values = [case.values[0][: row + 1] for row in range(n)]
    return case


def as_fork(rows: str):
    """Rows like A5: a context of 5 in request A, whose first of two blocks request B shares."""
    case = scatter([8, 8], seed=5)
    shared, a, b = (*case.block_tables[0, :2].tolist(), case.block_tables[1, 1].item())
    tables = {"A": [shared, a], "B": [shared, b]}
    keys = {"A": case.keys[0], "B": torch.cat([case.keys[0][:4], case.keys[1][4:]])}
    values = {"A": case.values[0], "B": torch.cat([case.values[0][:4], case.values[1][4:]])}
    parsed = [(row[0], int(row[1:])) for row in rows.split()]
    case.query = torch.randn(len(parsed), 4, 32, generator=torch.Generator().manual_seed(1))
    case.block_tables = torch.tensor([tables[name] for name, _ in parsed], dtype=torch.int32)
    case.context_lens = torch.tensor([n for _, n in parsed], dtype=torch.int32)
    case.keys = [keys[name][:n] for name, n in parsed]
    case.values = [values[name][:n] for name, n in parsed]
    return case
