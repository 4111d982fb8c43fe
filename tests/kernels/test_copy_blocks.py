"""Whole blocks are copied, in every layer, and nothing else changes."""

import math

import pytest
import torch
from scattered import BACKENDS

import kernels

every_backend = pytest.mark.parametrize("backend", BACKENDS)


def caches(*shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    k, v = torch.randn(2, *shape, generator=generator).to(dtype)
    return k.contiguous(), v.contiguous()


def copied(cache, pairs):
    """What ``cache`` must look like afterwards."""
    expected = cache.clone()
    for source, destination in pairs:
        expected.select(-4, destination).copy_(cache.select(-4, source))
    return expected


def assert_copies(k_cache, v_cache, pairs, backend):
    expected_k, expected_v = copied(k_cache, pairs), copied(v_cache, pairs)
    as_tensor = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2)
    kernels.copy_blocks(k_cache, v_cache, as_tensor, backend=backend)
    torch.testing.assert_close(k_cache, expected_k, atol=0, rtol=0, equal_nan=True)
    torch.testing.assert_close(v_cache, expected_v, atol=0, rtol=0, equal_nan=True)


@every_backend
@pytest.mark.parametrize("block_size", [1, 3, 4, 16])
@pytest.mark.parametrize("pairs", [[(1, 2)], [(5, 0), (1, 3)], [(1, 0), (1, 3), (1, 5), (4, 2)]])
def test_destinations_equal_their_sources(pairs, block_size, backend):
    assert_copies(*caches(6, block_size, 2, 32), pairs, backend)


@every_backend
@pytest.mark.parametrize("num_layers", [1, 3, 4])
def test_every_layer_is_copied(num_layers, backend):
    assert_copies(*caches(num_layers, 6, 4, 2, 32), [(1, 2), (0, 5)], backend)


@every_backend
@pytest.mark.parametrize(("num_kv_heads", "head_dim"), [(1, 8), (3, 13), (8, 80)])
def test_any_shape_of_block(num_kv_heads, head_dim, backend):
    assert_copies(*caches(2, 5, 3, num_kv_heads, head_dim), [(4, 0)], backend)


@every_backend
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_copied_bit_for_bit(dtype, backend):
    assert_copies(*caches(6, 4, 2, 32, dtype=dtype), [(1, 2)], backend)


@every_backend
def test_empty_slots_of_the_source_stay_nan_in_the_copy(backend):
    k_cache, v_cache = caches(6, 4, 2, 32)
    k_cache[1, 2:] = v_cache[1, 2:] = torch.nan
    assert_copies(k_cache, v_cache, [(1, 2)], backend)
    assert k_cache[2, 2:].isnan().all() and not k_cache[2, :2].isnan().any()


@every_backend
def test_more_than_one_program_takes(backend):
    pairs = [(i, 20 + i) for i in range(20)]
    assert_copies(*caches(2, 40, 32, 2, 256), pairs, backend)


@every_backend
def test_caches_of_different_layouts_are_written_in_place(backend):
    k_cache = torch.randn(3, 6, 2, 4, 32).transpose(2, 3)  # heads before offsets
    v_storage = torch.randn(6, 3, 4, 2, 64)  # blocks before layers, a hole after each number
    holes = v_storage[..., 1::2].clone()
    assert_copies(k_cache, v_storage.transpose(0, 1)[..., ::2], [(1, 2), (0, 5)], backend)
    assert torch.equal(v_storage[..., 1::2], holes)


@every_backend
def test_pairs_may_be_a_list_or_int32_or_a_slice(backend):
    for pairs in (
        [(1, 2), (0, 5)],
        torch.tensor([(1, 2), (0, 5)], dtype=torch.int32),
        torch.tensor([(1, 0), (2, 5)]).T,
    ):
        k_cache, v_cache = caches(6, 4, 2, 32)
        expected = copied(k_cache, [(1, 2), (0, 5)])
        kernels.copy_blocks(k_cache, v_cache, pairs, backend=backend)
        assert torch.equal(k_cache, expected)


@every_backend
@pytest.mark.parametrize("pairs", [[], torch.empty(0, 2, dtype=torch.int64)])
@pytest.mark.parametrize("num_blocks", [0, 6])
def test_no_pairs_copy_nothing(num_blocks, pairs, backend):
    k_cache, v_cache = caches(num_blocks, 4, 2, 32)
    before = k_cache.clone(), v_cache.clone()
    kernels.copy_blocks(k_cache, v_cache, pairs, backend=backend)
    assert torch.equal(k_cache, before[0]) and torch.equal(v_cache, before[1])


@every_backend
def test_addresses_past_two_to_the_31(tmp_path, backend):
    # A sparse file behind the pool: 4 GiB of addresses, a few pages of memory.
    shape = (2**31 // (16 * 2 * 32) + 16, 16, 2, 32)
    size = math.prod(shape)
    file = torch.from_file(str(tmp_path / "pool"), shared=True, size=size, dtype=torch.float16)
    pool = file.view(shape)
    pool[-1] = 7.0
    pairs = [(len(pool) - 1, len(pool) - 3)]
    kernels.copy_blocks(pool, pool, pairs, backend=backend)
    assert (pool[-3] == 7.0).all()
    assert (pool[-2] == 0).all()
