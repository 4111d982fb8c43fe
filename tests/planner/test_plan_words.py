"""The steps hold what the plan holds, and the verdict says what would fit when nothing does."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from planner_samples import HYBRID, LATENT, LLAMA, WINDOWED, choices

from pagedkv.planner import (
    Choices,
    Geometry,
    GpuMemory,
    KvMemory,
    advice_words,
    plan,
    steps,
    verdict_words,
)
from pagedkv.planner.plan import Plan
from pagedkv.planner.steps import size_words


def by_label(made: Plan) -> dict[str, str]:
    return {step.label: step.result for step in steps(made)}


def worked_out(formula: str) -> int:
    """What a formula of whole numbers comes to."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", formula)
    text = re.sub(r"ceil\(([^)]*) / ([^)]*)\)", r"(-(-(\1) // (\2)))", text)
    for word, sign in (("×", "*"), ("−", "-"), (" B", ""), (" layers", ""), (" layer", "")):
        text = text.replace(word, sign)
    return int(eval(text.replace(" groups", ""), {"min": min, "max": max}))


@given(choices())
def test_each_line_comes_to_what_it_says(chosen: Choices):
    made = plan(chosen)
    for step in steps(made):
        if not re.search(r"[a-z]{2,}", re.sub(r"ceil|min|max|layers?|groups", "", step.formula)):
            if "/ " in step.formula and "//" not in step.formula and "ceil" not in step.formula:
                assert step.result == f"{made.max_concurrency:,.2f}"
            elif "GiB" not in step.formula and " for " not in step.formula:
                number = int(step.result.split()[0].replace(",", ""))
                assert worked_out(step.formula) == number, step


@given(choices())
def test_all_that_comes_out_is_in_a_line(chosen: Choices):
    made = plan(chosen)
    results = by_label(made)
    assert results["Bytes per token"] == size_words(made.bytes_per_token)
    assert results["One block"] == size_words(made.block_bytes)
    assert results["Blocks"] == f"{made.num_blocks:,}"
    if len(made.groups) == 1:
        assert results["Positions"] == f"{made.kv_tokens:,}"
    else:
        assert results["Positions, if one group had all blocks"] == f"{made.kv_tokens:,}"
        assert results["Positions, as vLLM logs them"] == f"{made.cache_size_tokens:,}"
    assert results[f"Requests of {chosen.max_len:,} at once"] == f"{made.max_concurrency:,.2f}"
    longest = "any length" if made.fits_any_length else f"{made.max_len_that_fits:,}"
    assert results["Longest request that fits"] == longest
    assert len(results) == len(steps(made))


def test_the_lines_of_a_hybrid():
    lines = {step.label: step for step in steps(plan(Choices(HYBRID, KvMemory(10))))}
    assert (
        lines["Layers in groups of equal size"].formula == "1 × 5 for 5 full, 6 × 5 for 29 windowed"
    )
    assert lines["Layers in groups of equal size"].result == "7 groups, 1 layer of padding"
    assert lines["Blocks of that request in all groups"].formula == "1 × 512 + 6 × 513"
    assert lines["Positions that a windowed layer holds"].formula == "min(1,024 − 1 + 8,192, 8,192)"
    assert "null block" in "".join(lines)


def test_the_lines_of_a_latent():
    first = steps(plan(Choices(LATENT, KvMemory(10), tp=8)))[0]
    assert (first.formula, first.result) == ("(512 + 64) × 2 B", "1,152 B")


def test_sizes_in_words():
    assert size_words(2**30) == "1,073,741,824 B = 1 GiB"
    assert size_words(1_124_352) == "1,124,352 B ≈ 1.07 MiB"
    assert size_words(1023) == "1,023 B"


def test_what_fits_is_said_without_advice():
    made = plan(Choices(LLAMA, KvMemory(10)))
    assert (
        verdict_words(made) == "10.00 requests of 8,192 positions fit at once, each in 512 blocks."
    )
    assert advice_words(made) == ()


def test_a_request_that_does_not_fit_and_all_that_would():
    made = plan(Choices(LLAMA, KvMemory(3), max_len=32_768))
    assert verdict_words(made) == (
        "Not even one request of 32,768 positions fits: it needs 2,048 blocks, and there are 1,536."
    )
    assert advice_words(made) == (
        "A maximum length of 24,576 fits.",
        "It would take 4.00 GiB for KV on each GPU; there are 3.00.",
        "A KV cache of 1 byte a number (fp8) would do.",
        "Tensor parallelism over 2 such GPUs would do.",
    )


def test_a_model_that_does_not_fit_is_said_with_the_gpus_that_it_takes():
    made = plan(Choices(LLAMA, GpuMemory(16, 0.9, 14.96, 1), max_len=8192))
    assert verdict_words(made).startswith(
        "The model does not fit: weights and overhead are 1.56 GiB"
    )
    assert advice_words(made)[-1] == (
        "Tensor parallelism over 2 such GPUs would do, each with 7.48 GiB of the weights."
    )


def test_a_block_that_does_not_fit():
    made = plan(Choices(LLAMA, KvMemory(0.001)))
    assert verdict_words(made) == (
        "Not one block fits: it has 2,097,152 B, and there are 1,073,741 B for KV."
    )


@given(choices())
def test_all_advice_is_true(chosen: Choices):
    made = plan(chosen)
    words = " ".join(advice_words(made))
    assert (words == "") == made.fits
    if match := re.search(r"maximum length of ([\d,]+)", words):
        assert plan(replace(chosen, max_len=int(match[1].replace(",", "")))).fits
    if match := re.search(r"take ([\d.,]+) GiB", words):
        enough = float(match[1].replace(",", ""))
        assert plan(replace(chosen, memory=KvMemory(enough))).fits
    if "1 byte a number" in words:
        assert plan(replace(chosen, dtype_bytes=1)).fits
    if match := re.search(r"over (\d+) such GPUs", words):
        assert plan(replace(chosen, tp=int(match[1]))).fits


@pytest.mark.parametrize("geometry", [LLAMA, HYBRID, WINDOWED, LATENT, Geometry(1, 1, 1)])
@pytest.mark.parametrize("memory", [KvMemory(1e-9), KvMemory(1_000_000), GpuMemory(1, 1, 9, 9)])
def test_the_ends_of_the_ranges_have_words(geometry, memory):
    for extreme in (1, 100_000_000):
        made = plan(Choices(geometry, memory, max_len=extreme))
        assert verdict_words(made) and all(step.result for step in steps(made))
        assert isinstance(advice_words(made), tuple)
