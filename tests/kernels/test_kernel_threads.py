"""A server has a thread per visitor; all of them may launch kernels at once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import torch
from scattered import assert_equals_dense, scatter

import kernels

THREADS = 4


def test_threads_that_launch_at_once_get_their_own_results():
    cases = [scatter([9, 6, 3 + i], num_heads=2 << i % 2, seed=i) for i in range(THREADS)]
    at_once = Barrier(THREADS)

    def attend(case):
        at_once.wait()
        return [kernels.paged_attention(*case.arguments, return_weights=True) for _ in range(5)]

    with ThreadPoolExecutor(THREADS) as pool:
        for case, results in zip(cases, pool.map(attend, cases), strict=True):
            for out, weights in results:
                assert_equals_dense(case, out, weights)


def test_threads_that_write_at_once_write_their_own_rows():
    k_cache, v_cache = torch.full((2, THREADS, 4, 2, 32), torch.nan)
    at_once = Barrier(THREADS)

    def write(block_id):
        rows = torch.full((4, 2, 32), float(block_id))
        at_once.wait()
        for offset in range(4):
            row, slot = rows[:1] + offset, torch.tensor([block_id * 4 + offset])
            kernels.write_slots(row, -row, k_cache, v_cache, slot)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write, range(THREADS)))
    expected = torch.arange(THREADS)[:, None] + torch.arange(4)[None, :]
    assert torch.equal(k_cache, expected[:, :, None, None].expand_as(k_cache).float())
    assert torch.equal(v_cache, -k_cache)
