"""Rows of K and V land in their slots, and nowhere else."""

import math

import pytest
import torch
from scattered import BACKENDS, BLOCK_SIZES

import kernels

every_backend = pytest.mark.parametrize("backend", BACKENDS)


def empty_caches(num_blocks=6, block_size=4, num_kv_heads=2, head_dim=32, dtype=torch.float32):
    shape = (num_blocks, block_size, num_kv_heads, head_dim)
    return torch.full(shape, torch.nan, dtype=dtype), torch.full(shape, torch.nan, dtype=dtype)


def rows(tokens, num_kv_heads=2, head_dim=32, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    k, v = torch.randn(2, tokens, num_kv_heads, head_dim, generator=generator).to(dtype)
    return k, v


def assert_written(k_cache, v_cache, k, v, slots):
    """Every named slot holds its row, every other slot still NaN."""
    expected_k = torch.full_like(k_cache, torch.nan)
    expected_v = torch.full_like(v_cache, torch.nan)
    block_size = k_cache.shape[1]
    for token, slot in enumerate(slots):
        if slot >= 0:
            expected_k[slot // block_size, slot % block_size] = k[token]
            expected_v[slot // block_size, slot % block_size] = v[token]
    torch.testing.assert_close(k_cache, expected_k, atol=0, rtol=0, equal_nan=True)
    torch.testing.assert_close(v_cache, expected_v, atol=0, rtol=0, equal_nan=True)


@every_backend
@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_each_row_lands_in_its_slot(block_size, backend):
    k_cache, v_cache = empty_caches(block_size=block_size)
    order = torch.randperm(6 * block_size, generator=torch.Generator().manual_seed(block_size))
    slots = order[: max(1, 4 * block_size - 1)]
    k, v = rows(len(slots))
    kernels.write_slots(k, v, k_cache, v_cache, slots, backend=backend)
    assert_written(k_cache, v_cache, k, v, slots.tolist())


@every_backend
@pytest.mark.parametrize("slots", [[-1, 5, -1, 23, 0], [-1, -1], [7]])
def test_rows_without_a_slot_are_skipped(slots, backend):
    k_cache, v_cache = empty_caches()
    k, v = rows(len(slots))
    kernels.write_slots(k, v, k_cache, v_cache, torch.tensor(slots), backend=backend)
    assert_written(k_cache, v_cache, k, v, slots)


@every_backend
@pytest.mark.parametrize(("num_kv_heads", "head_dim"), [(1, 8), (3, 13), (2, 80), (8, 256), (1, 1)])
def test_any_shape_of_row(num_kv_heads, head_dim, backend):
    k_cache, v_cache = empty_caches(num_kv_heads=num_kv_heads, head_dim=head_dim)
    k, v = rows(3, num_kv_heads, head_dim)
    kernels.write_slots(k, v, k_cache, v_cache, torch.tensor([9, 2, 17]), backend=backend)
    assert_written(k_cache, v_cache, k, v, [9, 2, 17])


@every_backend
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_written_bit_for_bit(dtype, backend):
    k_cache, v_cache = empty_caches(dtype=dtype)
    k, v = rows(3, dtype=dtype)
    kernels.write_slots(k, v, k_cache, v_cache, torch.tensor([9, 2, 17]), backend=backend)
    assert_written(k_cache, v_cache, k, v, [9, 2, 17])


@every_backend
def test_an_old_value_is_overwritten(backend):
    k_cache, v_cache = empty_caches()
    for seed in (1, 2):
        k, v = rows(1, seed=seed)
        kernels.write_slots(k, v, k_cache, v_cache, torch.tensor([3]), backend=backend)
    assert_written(k_cache, v_cache, k, v, [3])


@every_backend
def test_more_tokens_than_one_program_takes(backend):
    k_cache, v_cache = empty_caches(num_blocks=40, num_kv_heads=8, head_dim=256)
    slots = torch.randperm(160, generator=torch.Generator().manual_seed(0))[:150]
    k, v = rows(150, num_kv_heads=8, head_dim=256)
    kernels.write_slots(k, v, k_cache, v_cache, slots, backend=backend)
    assert_written(k_cache, v_cache, k, v, slots.tolist())


@every_backend
def test_no_tokens_write_nothing(backend):
    k_cache, v_cache = empty_caches()
    k, v = rows(0)
    slots = torch.empty(0, dtype=torch.int64)
    kernels.write_slots(k, v, k_cache, v_cache, slots, backend=backend)
    assert_written(k_cache, v_cache, k, v, [])


@every_backend
def test_a_pool_without_blocks_takes_rows_that_have_no_slot(backend):
    k_cache, v_cache = empty_caches(num_blocks=0)
    k, v = rows(2)
    kernels.write_slots(k, v, k_cache, v_cache, torch.tensor([-1, -1]), backend=backend)
    assert k_cache.shape[0] == 0


@every_backend
def test_rows_sliced_from_a_fused_projection(backend):
    k_cache, v_cache = empty_caches()
    fused = torch.randn(3, 2 + 2 + 4, 32)  # a token's K, V and Q heads side by side
    k, v = fused[:, :2], fused[:, 2:4]
    kernels.write_slots(k, v, k_cache, v_cache, torch.tensor([9, 2, 17]), backend=backend)
    assert_written(k_cache, v_cache, k, v, [9, 2, 17])


@every_backend
def test_rows_with_heads_before_tokens(backend):
    k_cache, v_cache = empty_caches()
    k = torch.randn(2, 3, 32).transpose(0, 1)
    v = torch.randn(3, 32, 2).transpose(1, 2)
    slots = torch.tensor([9, 0, 2, 0, 17, 0])[::2]
    kernels.write_slots(k, v, k_cache, v_cache, slots, backend=backend)
    assert_written(k_cache, v_cache, k, v, [9, 2, 17])


@every_backend
def test_caches_of_different_layouts_are_written_in_place(backend):
    k_storage = torch.full((6, 2, 4, 32), torch.nan)  # heads before offsets
    v_storage = torch.full((6, 4, 2, 64), torch.nan)  # a hole after each number
    k_cache, v_cache = k_storage.transpose(1, 2), v_storage[..., ::2]
    k, v = rows(3)
    kernels.write_slots(k, v, k_cache, v_cache, torch.tensor([9, 2, 17]), backend=backend)
    assert_written(k_cache, v_cache, k, v, [9, 2, 17])
    assert v_storage[..., 1::2].isnan().all()


@every_backend
def test_one_layer_of_a_pool_is_written_and_no_other(backend):
    k_pool = torch.full((3, 6, 4, 2, 32), torch.nan)
    v_pool = torch.full((3, 6, 4, 2, 32), torch.nan)
    k, v = rows(2)
    kernels.write_slots(k, v, k_pool[1], v_pool[1], torch.tensor([9, 2]), backend=backend)
    assert_written(k_pool[1], v_pool[1], k, v, [9, 2])
    assert k_pool[[0, 2]].isnan().all() and v_pool[[0, 2]].isnan().all()


@every_backend
def test_rows_that_take_part_in_autograd_leave_the_cache_out_of_it(backend):
    k_cache, v_cache = empty_caches()
    k, v = (x.requires_grad_() for x in rows(1))
    kernels.write_slots(k, v, k_cache, v_cache, torch.tensor([3]), backend=backend)
    assert not k_cache.requires_grad and not v_cache.requires_grad
    assert_written(k_cache, v_cache, k.detach(), v.detach(), [3])


@every_backend
def test_addresses_past_two_to_the_31(tmp_path, backend):
    # A sparse file behind the pool: 4 GiB of addresses, a few pages of memory.
    shape = (2**31 // (16 * 2 * 32) + 16, 16, 2, 32)
    size = math.prod(shape)
    file = torch.from_file(str(tmp_path / "pool"), shared=True, size=size, dtype=torch.float16)
    pool = file.view(shape)
    k, _ = rows(1, dtype=torch.float16)
    last = len(pool) * 16 - 1
    kernels.write_slots(k, k, pool, pool, torch.tensor([last]), backend=backend)
    assert torch.equal(pool[-1, -1], k[0])
    assert (pool[-1, :-1] == 0).all()
