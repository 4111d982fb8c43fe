"""The steps hold what the plan holds, and the verdict says what would fit when nothing does."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given
from planner_samples import HYBRID, LATENT, LLAMA, WINDOWED, any_choices, choices
from worked_out import worked_out

from pagedkv.planner import (
    Choices,
    Geometry,
    GpuMemory,
    KvMemory,
    advice_words,
    make_plan,
    make_steps,
    verdict_words,
)
from pagedkv.planner.plan import Plan
from pagedkv.planner.steps import size_words


def by_label(plan: Plan) -> dict[str, str]:
    return {step.label: step.result for step in make_steps(plan)}


IN_WORDS = {  # what the formulas of these lines are; all others are arithmetic
    "Groups of equally many layers, which share blocks": " for ",
    "Longest request that fits": "blocks are at most|windows bound",
}


@given(any_choices())
@example(Choices(LLAMA, GpuMemory(79.123456789, 0.9, 14.96, 2.000000001)))
@example(Choices(LLAMA, KvMemory(79.123456789)))
@example(Choices(LLAMA, KvMemory(999_999.999999)))
@example(Choices(LLAMA, KvMemory(5e-324)))
@example(Choices(LLAMA, GpuMemory(1e-7, 1e-9, 0.0, 1e-300)))
@example(Choices(LLAMA, GpuMemory(80, 0.9, 16, 2), max_len=5000))
def test_each_line_comes_to_what_it_says(chosen: Choices):
    for step in make_steps(make_plan(chosen)):
        value = worked_out(step.formula)
        if value is None:
            assert re.search(IN_WORDS[step.label], step.formula), step
            continue
        said = re.fullmatch(r"(≈ )?(−?[\d,.]+)( B.*)?", step.result)
        printed = Fraction(said[2].replace(",", "").replace("−", "-"))
        if said[1]:
            assert 0 < abs(printed - value) <= Fraction(5, 1000), step
        else:
            assert printed == value, step


def test_formulas_are_worked_out_as_by_hand():
    assert worked_out("(80 × 0.9 − 16 − 2) GiB × 1,073,741,824") == 54 * 2**30
    assert worked_out("floor(0.1 GiB × 1,073,741,824)") == 107_374_182
    assert worked_out("min(1,024 − 1 + 8,192, 8,192)") == 8192
    assert worked_out("ceil(9,215 / 16) + 1") == 577
    assert worked_out("32,768 // 7 groups × 16") == 74_896
    assert worked_out("3 / 7") == Fraction(3, 7)
    assert worked_out("1e-300 GiB × 1,073,741,824") == Fraction(2**30, 10**300)
    assert worked_out("windows bound what a request needs") is None


def test_memory_says_how_gib_become_bytes():
    def line(memory: GpuMemory | KvMemory) -> tuple[str, str]:
        lines = {step.label: step for step in make_steps(make_plan(Choices(LLAMA, memory)))}
        return lines["Memory for KV"].formula, lines["Memory for KV"].result

    assert line(GpuMemory(80, 0.9, 16.0, 2)) == (
        "(80 × 0.9 − 16 − 2) GiB × 1,073,741,824",
        "57,982,058,496 B = 54 GiB",
    )
    assert line(GpuMemory(80, 0.9, -0.0, 2))[0] == "(80 × 0.9 − 0 − 2) GiB × 1,073,741,824"
    formula, result = line(KvMemory(79.123456789))
    assert formula == "floor(79.123456789 GiB × 1,073,741,824)"
    assert result == "84,958,164,813 B ≈ 79.12 GiB"


@given(choices())
def test_all_that_comes_out_is_in_a_line(chosen: Choices):
    plan = make_plan(chosen)
    results = by_label(plan)
    assert results["Bytes per token"] == size_words(plan.bytes_per_token)
    assert results["One block"] == size_words(plan.block_bytes)
    assert results["Blocks"] == f"{plan.num_blocks:,}"
    if len(plan.groups) == 1:
        assert results["Positions"] == f"{plan.kv_tokens:,}"
    else:
        assert results["Positions, if one group had all blocks"] == f"{plan.kv_tokens:,}"
        assert results["Positions, as vLLM logs them"] == f"{plan.cache_size_tokens:,}"
    requests = results[f"Requests of {chosen.max_len:,} at once"]
    assert requests.removeprefix("≈ ") == f"{plan.max_concurrency:,.2f}"
    longest = "any length" if plan.fits_any_length else f"{plan.max_len_that_fits:,}"
    assert results["Longest request that fits"] == longest
    assert len(results) == len(make_steps(plan))


def test_the_lines_of_a_hybrid():
    lines = {step.label: step for step in make_steps(make_plan(Choices(HYBRID, KvMemory(10))))}
    groups = lines["Groups of equally many layers, which share blocks"]
    assert groups.formula == "1 × 5 for 5 full, 6 × 5 for 29 windowed"
    assert groups.result == "7 groups, with 1 empty place"
    assert lines["Blocks of that request in all groups"].formula == "1 × 512 + 6 × 513"
    assert lines["Positions that a windowed layer holds"].formula == "min(1,024 − 1 + 8,192, 8,192)"
    assert "null block" in "".join(lines)


def test_the_lines_of_a_latent():
    first = make_steps(make_plan(Choices(LATENT, KvMemory(10), tp=8)))[0]
    assert (first.formula, first.result) == ("(512 + 64) × 2 B", "1,152 B")


def test_sizes_in_words():
    assert size_words(2**30) == "1,073,741,824 B = 1 GiB"
    assert size_words(1_124_352) == "1,124,352 B ≈ 1.07 MiB"
    assert size_words(1023) == "1,023 B"
    assert size_words(-3 * 2**30) == "−3,221,225,472 B = −3 GiB"
    assert size_words(-5) == "−5 B"


def test_what_fits_is_said_without_advice():
    plan = make_plan(Choices(LLAMA, KvMemory(10)))
    assert (
        verdict_words(plan) == "10.00 requests of 8,192 positions fit at once, each in 512 blocks."
    )
    assert advice_words(plan) == ()


def test_requests_that_do_not_fit_whole_are_rounded_down_but_in_the_arithmetic():
    plan = make_plan(Choices(LLAMA, KvMemory(1999 * 2 / 1024), max_len=16_000))
    assert verdict_words(plan) == (
        "1.99 requests of 16,000 positions fit at once, each in 1,000 blocks."
    )
    assert by_label(plan)["Requests of 16,000 at once"] == "≈ 2.00"  # 1,999 / 1,000, to the nearest


@given(choices())
def test_requests_as_they_are_shown_are_at_most_a_hundredth_less(chosen: Choices):
    plan = make_plan(chosen)
    blocks = Fraction(f"{plan.requests_at_once:.2f}") * plan.blocks_per_request
    hundredth = Fraction(plan.blocks_per_request, 100)
    assert plan.num_blocks - hundredth < blocks <= plan.num_blocks


def test_a_request_that_does_not_fit_and_all_that_would():
    plan = make_plan(Choices(LLAMA, KvMemory(3), max_len=32_768))
    assert verdict_words(plan) == (
        "Not even one request of 32,768 positions fits: it needs 2,048 blocks, and there are 1,536."
    )
    assert advice_words(plan) == (
        "A maximum length of 24,576 fits.",
        "It would take 4.00 GiB for KV on each GPU; there are 3.00.",
        "A KV cache of 1 byte a number (fp8) would do.",
        "Tensor parallelism over 2 such GPUs would do.",
    )


def test_a_model_that_does_not_fit_is_said_with_the_gpus_that_it_takes():
    plan = make_plan(Choices(LLAMA, GpuMemory(16, 0.9, 14.96, 1), max_len=8192))
    assert verdict_words(plan).startswith(
        "The model does not fit: weights and overhead are 1.56 GiB"
    )
    assert advice_words(plan)[-1] == (
        "Tensor parallelism over 2 such GPUs would do, each with 7.48 GiB of the weights."
    )


def test_a_block_that_does_not_fit():
    plan = make_plan(Choices(LLAMA, KvMemory(0.001)))
    assert verdict_words(plan) == (
        "Not one block fits: it has 2,097,152 B, and there are 1,073,741 B for KV."
    )


@given(choices())
def test_all_advice_is_true(chosen: Choices):
    plan = make_plan(chosen)
    words = " ".join(advice_words(plan))
    assert (words == "") == plan.fits
    if match := re.search(r"maximum length of ([\d,]+)", words):
        assert make_plan(replace(chosen, max_len=int(match[1].replace(",", "")))).fits
    if match := re.search(r"take ([\d.,]+) GiB", words):
        enough = float(match[1].replace(",", ""))
        assert make_plan(replace(chosen, memory=KvMemory(enough))).fits
    if "1 byte a number" in words:
        assert make_plan(replace(chosen, dtype_bytes=1)).fits
    if match := re.search(r"over (\d+) such GPUs", words):
        assert make_plan(replace(chosen, tp=int(match[1]))).fits


def starts(geometry: Geometry, tp: int) -> bool:
    """Whether an engine would: heads are dealt out evenly, or one copy of a KV head to each GPU."""
    queries, kv = geometry.num_heads, geometry.num_kv_heads
    if queries is not None and queries % tp:
        return False
    return geometry.latent is not None or kv % tp == 0 or tp % kv == 0


@given(any_choices())
def test_the_fewest_gpus_that_would_do_are_named(chosen: Choices):
    """Found by trying all, with the weights shared and rounded up to what is printed."""
    plan = make_plan(chosen)
    match = re.search(r"over (\d+) such GPUs would do(.*)", " ".join(advice_words(plan)))
    named = int(match[1]) if match else None
    tried = range(chosen.tp + 1, 1025) if not plan.fits else ()
    for tp in tried:
        memory = chosen.memory
        if isinstance(memory, GpuMemory):
            weights = Fraction(repr(memory.weights_gib)) * chosen.tp / tp
            memory = replace(memory, weights_gib=math.ceil(weights * 100) / 100)
        if starts(chosen.geometry, tp) and make_plan(replace(chosen, tp=tp, memory=memory)).fits:
            assert named == tp
            if isinstance(memory, GpuMemory):
                assert f"each with {memory.weights_gib:,.2f} GiB" in match[2]
            return
    assert named is None


@pytest.mark.parametrize(
    ("geometry", "tp"),
    [
        (Geometry(32, 12, 128, num_heads=24), 3),  # no doubling
        (Geometry(32, 12, 128, num_heads=12), 3),
        (Geometry(32, 12, 128), 3),
        (Geometry(32, 14, 128, num_heads=28), 7),
        (Geometry(32, 2, 128, num_heads=14), None),  # 2 fall short, 7 do not share 2 KV heads
        (Geometry(32, 1, 640, num_heads=71), None),  # 71 share no head that is divided
    ],
)
def test_gpus_that_engines_refuse_are_not_advised(geometry: Geometry, tp: int | None):
    short = make_plan(Choices(geometry, KvMemory(1), max_len=8192))
    needed = short.block_bytes * short.blocks_per_request
    memory = KvMemory(needed / (tp or 3) / 2**30)
    words = advice_words(make_plan(replace(short.choices, memory=memory)))
    said = [word for word in words if "Tensor" in word]
    assert said == ([f"Tensor parallelism over {tp} such GPUs would do."] if tp else [])


def test_query_heads_that_gpus_cannot_share_are_named():
    first = {
        tp: make_steps(make_plan(Choices(Geometry(32, 1, 64, num_heads=71), KvMemory(1), tp=tp)))[
            0
        ].label
        for tp in (1, 2, 71)
    }
    plain = "KV heads on each GPU"
    refused = f"{plain}; engines refuse to share 71 query heads between 2"
    assert first == {1: plain, 2: refused, 71: plain}
    latent = make_steps(make_plan(Choices(LATENT, KvMemory(10), tp=6)))[0].label
    assert latent.endswith("whole on every GPU; engines refuse to share 128 query heads between 6")


def test_what_is_needed_never_looks_like_what_is_there():
    plan = make_plan(Choices(LLAMA, KvMemory(3.9999), max_len=32_768))
    assert "It would take 4.00 GiB for KV on each GPU; there are 3.99." in advice_words(plan)
    plan = make_plan(Choices(LLAMA, KvMemory(3.996), max_len=65_536))
    assert "It would take 8.00 GiB for KV on each GPU; there are 4.00." in advice_words(plan)
    assert by_label(plan)["Memory for KV"].endswith("≈ 4 GiB")
    plan = make_plan(Choices(LLAMA, GpuMemory(16, 0.5, 7, 1.001)))
    assert "weights and overhead are 0.01 GiB more" in verdict_words(plan)


@pytest.mark.parametrize("geometry", [LLAMA, HYBRID, WINDOWED, LATENT, Geometry(1, 1, 1)])
@pytest.mark.parametrize("memory", [KvMemory(1e-9), KvMemory(1_000_000), GpuMemory(1, 1, 9, 9)])
def test_the_ends_of_the_ranges_have_words(geometry, memory):
    for extreme in (1, 100_000_000):
        plan = make_plan(Choices(geometry, memory, max_len=extreme))
        assert verdict_words(plan) and all(step.result for step in make_steps(plan))
        assert bool(advice_words(plan)) != plan.fits
