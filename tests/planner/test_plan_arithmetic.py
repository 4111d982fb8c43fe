"""The arithmetic: worked by hand, and against a brute force that shares nothing with it."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from planner_samples import HYBRID, LATENT, LLAMA, WINDOWED, choices

from pagedkv.planner import Choices, Geometry, GpuMemory, KvMemory, find_model, make_plan
from pagedkv.planner.groups import group_size_of, groups_of
from pagedkv.planner.plan import ANY_LENGTH, longest_that_fits

GIB = 2**30


def test_llama_8b_has_blocks_of_two_mib():
    plan = make_plan(Choices(LLAMA, KvMemory(10), max_len=8192))
    assert (plan.bytes_per_token, plan.block_bytes) == (131_072, 2 * 2**20)
    assert (plan.num_blocks, plan.kv_tokens) == (5120, 81_920)
    assert (plan.blocks_per_request, plan.max_concurrency) == (512, 10.0)
    assert (plan.max_len_that_fits, plan.fits, plan.fits_any_length) == (81_920, True, False)


def test_opt_13b_on_the_papers_gpu_has_the_papers_slots():
    plan = make_plan(Choices(find_model("opt-13b").geometry, KvMemory(12)))
    assert plan.bytes_per_token == 819_200
    assert (plan.num_blocks, plan.kv_tokens) == (983, 15_728)


@pytest.mark.parametrize("tp", [1, 2, 8, 16])
def test_a_latent_is_not_divided(tp):
    assert make_plan(Choices(LATENT, KvMemory(10), tp=tp)).bytes_per_token == 70_272


@pytest.mark.parametrize(
    ("kv_heads", "tp", "heads"), [(8, 1, 8), (8, 4, 2), (8, 8, 1), (8, 16, 1), (1, 4, 1), (3, 3, 1)]
)
def test_heads_are_shared_and_never_fewer_than_one(kv_heads, tp, heads):
    plan = make_plan(Choices(Geometry(2, kv_heads, 64), KvMemory(1), tp=tp))
    assert plan.bytes_per_token == 2 * 2 * heads * 64 * 2


def test_memory_is_counted_as_it_is_written_and_not_as_floats_are():
    assert 80 * 0.7 == 56 > 80 * Fraction(0.7)  # the nearest binary fraction is a little less
    assert GpuMemory(80, 0.7, 46, 2).kv_bytes == 8 * GIB
    assert GpuMemory(24, 0.9, 15.6, 2).kv_bytes == 4 * GIB
    assert GpuMemory(80, 0.9, 16, 2).kv_bytes == 54 * GIB
    assert GpuMemory(40, 0.5, 30, 0).kv_bytes == -10 * GIB


def test_a_hybrid_by_hand():
    """Gemma-3-4B: 5 full and 29 windowed layers: 1 + 6 groups of 5."""
    plan = make_plan(Choices(HYBRID, KvMemory(10), max_len=32_768))
    assert [group.layers for group in plan.groups] == [5, 5, 5, 5, 5, 5, 4]
    assert plan.block_bytes == 16 * 2 * 4 * 256 * 2 * 5
    assert plan.num_blocks == 10 * GIB // 327_680 == 32_768
    windowed = math.ceil((1024 - 1 + 8192) / 16) + 1
    assert plan.blocks_per_request == 2048 + 6 * windowed
    assert plan.kv_tokens == 32_768 * 16
    assert plan.cache_size_tokens == 32_768 // 7 * 16
    assert plan.max_len_that_fits == (32_768 - 6 * windowed) * 16


def test_kinds_that_are_nearly_equally_many_are_padded():
    assert [group.layers for group in groups_of(Geometry(25, 8, 64, None, None, 12, 128))] == [
        13,
        12,
    ]
    assert (group_size_of([10, 14]), group_size_of([10, 15])) == (14, 10)


def test_windows_on_all_layers_bound_what_a_request_needs():
    plan = make_plan(Choices(WINDOWED, KvMemory(5), max_len=1_000_000))
    assert plan.blocks_per_request == math.ceil((4096 - 1 + 8192) / 16) + 1
    assert (plan.fits_any_length, plan.max_len_that_fits) == (True, ANY_LENGTH)
    small = make_plan(Choices(WINDOWED, KvMemory(1)))  # 512 blocks: fewer than a window takes
    assert (small.fits_any_length, small.max_len_that_fits) == (False, 511 * 16)


@pytest.mark.parametrize("memory", [GpuMemory(8, 0.9, 7, 1), KvMemory(1e-6)])
def test_where_nothing_fits_all_counts_are_0(memory):
    plan = make_plan(Choices(LLAMA, memory))
    counts = (plan.num_blocks, plan.kv_tokens, plan.max_concurrency, plan.max_len_that_fits)
    assert counts == (0, 0, 0, 0)
    assert not plan.fits


# A brute force: layers one by one, blocks filled position by position, lengths tried in turn.


def bytes_of_layer(chosen: Choices) -> int:
    geometry = chosen.geometry
    if geometry.latent is not None:
        return (geometry.latent.rank + geometry.latent.rope_dim) * chosen.dtype_bytes
    heads = max(geometry.num_kv_heads // chosen.tp, 1)
    values = geometry.head_dim if geometry.v_head_dim is None else geometry.v_head_dim
    return heads * (geometry.head_dim + values) * chosen.dtype_bytes


def dealt(geometry: Geometry) -> list[list[bool]]:
    """The layers in groups, each layer as whether it has a window."""
    full = [False] * (geometry.num_layers - geometry.windowed_layers)
    windowed = [True] * geometry.windowed_layers
    kinds = [kind for kind in (full, windowed) if kind]
    counts = sorted(map(len, kinds))
    if len(kinds) == 1:
        return kinds
    size = counts[1] if Fraction(counts[1], counts[0]) < Fraction(3, 2) else counts[0]
    groups = []
    for kind in kinds:
        number = 0
        while number * size < len(kind):
            number += 1
        groups += [kind[first::number] for first in range(number)]
    return groups


def blocks_by_hand(chosen: Choices, length: int) -> int:
    total = 0
    for group in dealt(chosen.geometry):
        held = length
        if group[0]:
            held = min(chosen.geometry.window - 1 + chosen.batched_tokens, length)
        blocks = 0
        while blocks * chosen.block_size < held:
            blocks += 1
        total += blocks + (1 if group[0] else 0)
    return total


@given(choices())
def test_the_plan_is_that_of_a_brute_force(chosen: Choices):
    plan = make_plan(chosen)
    groups = dealt(chosen.geometry)
    per_layer = bytes_of_layer(chosen)
    assert plan.bytes_per_token == sum(per_layer for _ in range(chosen.geometry.num_layers))
    assert sorted(g.layers for g in plan.groups) == sorted(map(len, groups))
    block = chosen.block_size * per_layer * max(map(len, groups))
    available = int(Fraction(repr(chosen.memory.kv_gib)) * GIB)
    assert plan.block_bytes == block
    assert plan.num_blocks * block <= available < (plan.num_blocks + 1) * block
    assert plan.kv_tokens == plan.num_blocks * chosen.block_size
    assert plan.cache_size_tokens == plan.num_blocks // len(groups) * chosen.block_size
    needed = blocks_by_hand(chosen, chosen.max_len)
    assert plan.blocks_per_request == needed
    assert plan.max_concurrency == plan.num_blocks / needed
    assert plan.fits == (needed <= plan.num_blocks)


@given(choices())
def test_the_longest_that_fits_is_found_by_trying_all(chosen: Choices):
    """Twice what any windows hold is beyond all that can still change."""
    per_block = bytes_of_layer(chosen) * chosen.block_size
    blocks = int(chosen.memory.kv_bytes) // (per_block * max(map(len, dealt(chosen.geometry))))
    chosen = replace(
        chosen, memory=KvMemory(max(chosen.memory.kv_gib * 60 / max(blocks, 60), 1e-9))
    )
    plan = make_plan(chosen)
    beyond = plan.num_blocks * chosen.block_size + 200
    fitting = [n for n in range(1, beyond) if blocks_by_hand(chosen, n) <= plan.num_blocks]
    assert fitting == list(range(1, len(fitting) + 1))
    if plan.fits_any_length:
        assert len(fitting) == beyond - 1
    else:
        assert plan.max_len_that_fits == len(fitting)


@given(choices())
def test_more_memory_never_holds_less(chosen: Choices):
    more = replace(chosen, memory=KvMemory(chosen.memory.kv_gib * 2))
    assert make_plan(more).num_blocks >= make_plan(chosen).num_blocks
    assert make_plan(more).max_len_that_fits >= make_plan(chosen).max_len_that_fits


@pytest.mark.parametrize("capacity", [0, 1, 2, 3, 7, 8, 9, 1000])
def test_the_binary_search_meets_every_edge(capacity):
    assert longest_that_fits(lambda length: length, capacity) == capacity
    assert longest_that_fits(lambda length: min(length, 5), capacity) == (
        None if capacity >= 5 else capacity
    )
