"""What is counted but would not run is warned of, and windows are explained."""

from dataclasses import replace

import pytest
from hypothesis import given
from planner_samples import HYBRID, LATENT, LLAMA, WINDOWED, choices

from pagedkv.planner import (
    Choices,
    Geometry,
    KvMemory,
    advice_words,
    make_plan,
    note_words,
    warning_words,
)
from pagedkv.planner.groups import Group, seen_at_once


@pytest.mark.parametrize(
    ("geometry", "tp", "heads"),
    [
        (LLAMA, 3, "8 KV heads"),
        (LLAMA, 4, None),
        (Geometry(32, 1, 64, num_heads=71), 2, "71 query heads"),
        (LATENT, 6, "128 query heads"),
        (LATENT, 8, None),
    ],
)
def test_gpus_that_engines_refuse_are_warned_of(geometry, tp, heads):
    said = warning_words(make_plan(Choices(geometry, KvMemory(10), tp=tp)))
    if heads is None:
        assert said == ()
    else:
        (words,) = said
        assert words.startswith(f"Engines refuse to share {heads} between {tp} GPUs.")


def test_a_request_that_needs_every_block_could_never_run():
    """16 positions are a block of 2 MiB: 512 of them in a GiB."""
    for length, is_warned in ((8177, True), (8192, True), (8176, False), (8193, False)):
        said = warning_words(make_plan(Choices(LLAMA, KvMemory(1), max_len=length)))
        assert any("keeps one back" in words for words in said) is is_warned
        assert len(said) == is_warned


def test_a_latent_is_promised_nothing_of_fp8():
    """Numbers of 1 byte would do by the formula alone: twice the blocks."""
    plan = make_plan(Choices(LATENT, KvMemory(0.5), max_len=10_000))
    assert not plan.fits and make_plan(replace(plan.choices, dtype_bytes=1)).fits
    assert "1 byte" not in " ".join(advice_words(plan))
    assert warning_words(plan) == ()
    (said,) = warning_words(make_plan(replace(plan.choices, dtype_bytes=1)))
    assert "fp8" in said


@given(choices())
def test_what_windows_keep_is_what_is_counted(chosen: Choices):
    geometry, said = chosen.geometry, note_words(make_plan(chosen))
    if geometry.window is None:
        assert said == ()
        return
    most = seen_at_once(Group(1, geometry.window), 10**9, chosen.batched_tokens)
    assert f"at most {most:,} positions" in said[0]
    assert len(said) == 1 + geometry.is_hybrid


def test_a_hybrid_in_words():
    said = note_words(make_plan(Choices(HYBRID, KvMemory(10))))
    assert said == (
        "The 29 layers with a window keep at most 9,215 positions of a request, so a longer one "
        "takes less than its length × bytes per token.",
        "Positions is what vLLM logs: as if every request filled all 7 groups of layers alike.",
    )
    (only,) = note_words(make_plan(Choices(WINDOWED, KvMemory(10))))
    assert only.startswith("The 32 layers")
