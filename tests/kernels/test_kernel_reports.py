"""What was reported wrong in other engines' kernels, each as the behaviour that is right here."""

import pytest
import torch
from scattered import BACKENDS, assert_equals_dense, scatter

import kernels

every_backend = pytest.mark.parametrize("backend", BACKENDS)


@every_backend
@pytest.mark.parametrize("poison", [torch.nan, torch.inf, -torch.inf])
def test_unused_slots_and_freed_blocks_may_hold_anything(poison, backend):
    """vllm PR 936 and PR 47305, flash-attention 1745 and 2374: weight 0 times NaN is NaN."""
    clean, poisoned = scatter([9, 6], poison=0.0), scatter([9, 6], poison=poison)
    expected = kernels.paged_attention(*clean.arguments, backend=backend)
    assert torch.equal(kernels.paged_attention(*poisoned.arguments, backend=backend), expected)


@every_backend
@pytest.mark.parametrize("block_size", range(1, 33))
def test_every_block_size_from_1_to_32_runs(block_size, backend):
    """vllm 41339, triton 4197: block sizes under 16 did not compile."""
    case = scatter([2 * block_size + 1, block_size], block_size=block_size)
    assert_equals_dense(case, kernels.paged_attention(*case.arguments, backend=backend))


@every_backend
@pytest.mark.parametrize("head_dim", [80, 96])
@pytest.mark.parametrize("block_size", [3, 5, 6])
def test_neither_block_size_nor_head_dim_need_be_a_power_of_two(block_size, head_dim, backend):
    """ROCm/aiter PR 2393, vllm 4127, sglang PR 1281."""
    case = scatter([2 * block_size + 1], block_size=block_size, head_dim=head_dim)
    assert_equals_dense(case, kernels.paged_attention(*case.arguments, backend=backend))


@every_backend
@pytest.mark.parametrize(("num_heads", "num_kv_heads"), [(8, 8), (8, 2), (8, 1)])
def test_a_query_head_reads_the_kv_head_of_its_group(num_heads, num_kv_heads, backend):
    """LMCache PR 3092, ONNXim PR 34: the query head was used as the KV head."""
    case = scatter([9], num_heads=num_heads, num_kv_heads=num_kv_heads)
    for kv_head in range(num_kv_heads):
        case.v_cache[:, :, kv_head] = float(kv_head)
    out = kernels.paged_attention(*case.arguments, backend=backend)
    expected = torch.arange(num_heads) // (num_heads // num_kv_heads)
    torch.testing.assert_close(out[0], expected.float()[:, None].expand(-1, 32))


@every_backend
@pytest.mark.parametrize("block_size", [1, 4, 16, 32])
@pytest.mark.parametrize("context_len", [1, 33, 128, 500])
def test_large_block_size_times_length_is_as_right_as_small(block_size, context_len, backend):
    """flashinfer 4347: right at small sizes, wrong at large block size times length."""
    case = scatter([context_len], block_size=block_size, num_heads=2, head_dim=8)
    assert_equals_dense(case, kernels.paged_attention(*case.arguments, backend=backend))


@every_backend
def test_ids_of_freed_blocks_in_the_rest_of_a_table_are_never_followed(backend):
    """vllm 42273, sparkinfer PR 185: the table's tail kept ids of freed blocks."""
    case = scatter([5, 8])
    case.block_tables[0, 2:] = case.block_tables[1, 0]  # another request's block by now
    case.block_tables[1, 2:] = 2**31 - 1
    case.k_cache[case.block_tables[1, 0]] = torch.nan
    out = kernels.paged_attention(*case.arguments, backend=backend)
    case.keys, case.values, case.query = case.keys[:1], case.values[:1], case.query[:1]
    assert_equals_dense(case, out[:1])


@every_backend
def test_the_eighth_token_of_table_10_11_goes_to_slot_47(backend):
    """MinivLLM 76: its slot was computed as 43, over an earlier token."""
    k_cache = torch.full((12, 4, 2, 32), torch.nan)
    v_cache = torch.full((12, 4, 2, 32), torch.nan)
    k, v = torch.randn(2, 1, 2, 32)
    kernels.write_slots(k, v, k_cache, v_cache, torch.tensor([11 * 4 + 3]), backend=backend)
    assert torch.equal(k_cache[11, 3], k[0]) and torch.equal(v_cache[11, 3], v[0])
    assert k_cache.isnan().sum() == (48 - 1) * 2 * 32


def test_both_backends_agree_with_the_oracle_on_the_same_input():
    """triton 11153 and 5387: two ways of running one kernel disagreed, so both are checked."""
    case = scatter([9, 6, 1, 17])
    by_triton, by_torch = (
        kernels.paged_attention(*case.arguments, return_weights=True, backend=backend)
        for backend in BACKENDS
    )
    assert_equals_dense(case, *by_triton)
    assert_equals_dense(case, *by_torch)
    torch.testing.assert_close(by_triton, by_torch, atol=2e-6, rtol=0)
