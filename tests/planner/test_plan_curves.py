"""What the planner's figures are drawn from: splits, curves and savings."""

import pytest
from hypothesis import given
from planner_samples import HYBRID, LATENT, LLAMA, WINDOWED, choices

from pagedkv.planner import Choices, Geometry, GpuMemory, KvMemory, Latent, make_plan, verdict_words
from pagedkv.planner.choices import RANGES
from pagedkv.planner.curves import concurrency_curves
from pagedkv.planner.savings import savings
from pagedkv.planner.split import Split, split_memory

GIB = 2**30


def parts(split: Split) -> tuple[int, ...]:
    return split.weights, split.overhead, split.kv, split.remainder, split.left


def test_a_gpu_splits_without_a_remainder_unaccounted_for():
    split = split_memory(make_plan(Choices(LLAMA, GpuMemory(80, 0.9, 15, 2))))
    assert parts(split) == (15 * GIB, 2 * GIB, 55 * GIB, 0, 8 * GIB)
    assert (split.budget_bytes, split.total_bytes) == (72 * GIB, 80 * GIB)
    assert not split.is_too_large


@given(choices())
def test_the_parts_of_kv_memory_are_blocks_and_a_remainder(chosen: Choices):
    plan = make_plan(chosen)
    split = split_memory(plan)
    assert (split.kv, split.remainder) == (
        plan.num_blocks * plan.block_bytes,
        chosen.memory.kv_bytes % plan.block_bytes,
    )
    assert sum(parts(split)) == split.total_bytes == chosen.memory.kv_bytes


def test_a_model_that_is_too_large_is_told():
    split = split_memory(make_plan(Choices(LLAMA, GpuMemory(16, 0.9, 20, 1))))
    assert split.is_too_large
    assert parts(split) == (20 * GIB, GIB, 0, 0, 0)


def test_a_model_that_is_too_large_by_less_than_a_byte_is_told():
    plan = make_plan(Choices(LLAMA, GpuMemory(1, 0.5, 0.25, 0.2500000001)))
    assert "does not fit" in verdict_words(plan)
    assert split_memory(plan).is_too_large


@given(choices())
def test_every_point_of_a_curve_is_a_plan(chosen: Choices):
    curves = concurrency_curves(make_plan(chosen))
    for name, lines, planned in (
        ("block_size", curves.by_block_size, chosen.block_size),
        ("dtype_bytes", curves.by_dtype, chosen.dtype_bytes),
    ):
        assert planned in [curve.value for curve in lines]
        assert [c.value for c in lines] == sorted({c.value for c in lines})
        for curve in lines:
            assert list(curve.lengths) == sorted(set(curve.lengths))
            points = list(zip(curve.lengths, curve.requests, strict=True))
            for length, requests in points[:2] + points[-2:]:
                varied = {"block_size": chosen.block_size, "dtype_bytes": chosen.dtype_bytes}
                varied[name] = curve.value
                there = make_plan(
                    Choices(
                        chosen.geometry,
                        chosen.memory,
                        tp=chosen.tp,
                        max_len=length,
                        batched_tokens=chosen.batched_tokens,
                        **varied,
                    )
                )
                assert there.requests_at_once == requests >= 1


def test_a_curve_ends_at_the_longest_that_fits():
    curves = concurrency_curves(make_plan(Choices(LLAMA, KvMemory(1))))
    ends = {curve.value: (curve.lengths[-1], curve.requests[-1]) for curve in curves.by_block_size}
    assert ends == {16: (8192, 1), 64: (8192, 1), 256: (8192, 1)}


def test_the_planned_length_is_a_point_of_its_curve():
    curves = concurrency_curves(make_plan(Choices(HYBRID, KvMemory(10), max_len=5000)))
    (planned,) = (curve for curve in curves.by_block_size if curve.value == 16)
    found = dict(zip(planned.lengths, planned.requests, strict=True))
    assert found[5000] == curves.requests_at_once


def test_gqa_saves_its_group():
    as_mha, planned = savings(make_plan(Choices(LLAMA, KvMemory(10))))
    assert (as_mha.kind, planned.kind) == ("MHA", "GQA")
    assert as_mha.bytes_per_token == 4 * planned.bytes_per_token == 4 * 131_072
    assert (as_mha.requests_at_once, planned.requests_at_once) == (2.5, 10)
    assert (as_mha.is_planned, planned.is_planned) == (False, True)


def test_a_latent_against_128_heads_of_192_and_128():
    as_mha, planned = savings(make_plan(Choices(LATENT, KvMemory(10))))
    assert (as_mha.bytes_per_token, planned.bytes_per_token) == (4_997_120, 70_272)
    assert planned.kind == "MLA"


def test_parallel_gpus_share_heads_but_no_latent():
    as_mha, planned = savings(make_plan(Choices(LATENT, KvMemory(10), tp=8)))
    assert (as_mha.bytes_per_token, planned.bytes_per_token) == (4_997_120 // 8, 70_272)


def test_what_cannot_be_compared_is_left_out():
    assert savings(make_plan(Choices(Geometry(2, 8, 64), KvMemory(1)))) == ()


@pytest.mark.parametrize("heads", [1, 8])
def test_mha_stands_alone(heads):
    (only,) = savings(make_plan(Choices(Geometry(2, heads, 64, num_heads=heads), KvMemory(1))))
    assert (only.kind, only.is_planned) == ("MHA", True)


def test_a_latent_of_one_head_is_compared_with_mha():
    alone = Geometry(2, 1, 64, num_heads=1, latent=Latent(16, 8))
    assert [variant.kind for variant in savings(make_plan(Choices(alone, KvMemory(1))))] == [
        "MHA",
        "MLA",
    ]


def test_curves_of_windows_level_out():
    curves = concurrency_curves(make_plan(Choices(WINDOWED, KvMemory(10), max_len=100_000)))
    (planned,) = (curve for curve in curves.by_block_size if curve.value == 16)
    assert planned.requests[-1] == planned.requests[-2]


def test_no_curve_goes_beyond_the_longest_that_can_be_planned():
    longest = RANGES["max_len"][-1]
    curves = concurrency_curves(
        make_plan(Choices(LLAMA, KvMemory(1_000_000), max_len=longest // 2))
    )
    assert max(length for curve in curves.by_block_size for length in curve.lengths) <= longest
