"""The planner's three figures: what is drawn, said and listed, in both themes."""

import json

import pytest

from pagedkv.figures import (
    plan_concurrency_alt,
    plan_concurrency_figure,
    plan_concurrency_table,
    plan_memory_alt,
    plan_memory_figure,
    plan_memory_table,
    plan_savings_alt,
    plan_savings_figure,
    plan_savings_table,
)
from pagedkv.figures.plan_concurrency import LOOKS
from pagedkv.figures.theme import DARK, LIGHT
from pagedkv.planner import Choices, Geometry, GpuMemory, KvMemory, make_plan
from pagedkv.planner.curves import BLOCK_SIZES, DTYPE_BYTES, concurrency_curves
from pagedkv.planner.savings import savings
from pagedkv.planner.split import Split, split_memory

LLAMA = Geometry(32, 8, 128, num_heads=32)
FITS = make_plan(Choices(LLAMA, GpuMemory(80, 0.9, 15, 2)))
TIGHT = make_plan(Choices(LLAMA, KvMemory(0.5), max_len=8192))
TOO_LARGE = make_plan(Choices(LLAMA, GpuMemory(16, 0.9, 20, 1)))
EVERY_PLAN = pytest.mark.parametrize("plan", [FITS, TIGHT, TOO_LARGE])
THEMES = pytest.mark.parametrize("dark", [False, True])


def figures(plan, dark):
    yield plan_memory_figure(split_memory(plan), dark=dark)
    yield plan_concurrency_figure(concurrency_curves(plan), dark=dark)
    yield plan_savings_figure(savings(plan), dark=dark)


@EVERY_PLAN
@THEMES
def test_every_figure_takes_the_theme_is_json_and_has_no_small_type(plan, dark):
    for figure in figures(plan, dark):
        assert figure.layout.font.color == (DARK if dark else LIGHT).ink
        assert figure.layout.font.size >= 14
        json.loads(figure.to_json(), parse_constant=lambda word: pytest.fail(word))


@THEMES
def test_memory_is_one_bar_whose_parts_differ_in_colour_or_pattern(dark):
    bars = plan_memory_figure(split_memory(FITS), dark=dark).data
    assert {bar.name: bar.x[0] for bar in bars} == {
        "weights": 15,
        "activations and overhead": 2,
        "KV blocks": 55,
        "left alone": 8,
    }
    assert len({(bar.marker.color, bar.marker.pattern.shape) for bar in bars}) == len(bars)


def test_the_budget_is_marked_where_it_is_not_all():
    assert len(plan_memory_figure(split_memory(FITS)).layout.shapes) == 1
    assert len(plan_memory_figure(split_memory(TOO_LARGE)).layout.shapes) == 1
    assert not plan_memory_figure(split_memory(TIGHT)).layout.shapes


def test_memory_in_words_and_numbers():
    split_up = split_memory(FITS)
    assert plan_memory_alt(split_up) == (
        "80.00 GiB of one GPU: weights 15.00, activations and overhead 2.00, KV blocks 55.00, left "
        "alone 8.00."
    )
    assert "more than the 14.40 GiB" in plan_memory_alt(split_memory(TOO_LARGE))
    assert plan_memory_table(split_up)["bytes"].sum() == split_up.total_bytes


def test_every_part_stands_in_a_row_of_its_name():
    split = Split(
        weights=5,
        overhead=4,
        kv=3,
        remainder=2,
        left=1,
        budget_bytes=14,
        total_bytes=15,
        is_too_large=False,
    )
    table = plan_memory_table(split)
    assert dict(zip(table["part"], table["bytes"], strict=True)) == {
        "weights": 5,
        "activations and overhead": 4,
        "KV blocks": 3,
        "makes no whole block": 2,
        "left alone": 1,
    }


@THEMES
def test_a_line_for_each_block_size_and_dtype_and_a_star(dark):
    figure = plan_concurrency_figure(concurrency_curves(FITS), dark=dark)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [line.name for line in lines] == [
        *(f"blocks of {size}" for size in BLOCK_SIZES),
        *(f"{size} B a number" for size in DTYPE_BYTES),
    ]
    for panel in (lines[:3], lines[3:]):
        assert len({(line.line.color, line.line.dash) for line in panel}) == 3
        assert [line.line.dash for line in panel].count("solid") == 1
    stars = [trace for trace in figure.data if trace.mode == "markers"]
    assert [(star.x, star.y) for star in stars] == [((8192,), (FITS.requests_at_once,))] * 2


def test_there_are_looks_for_every_line_that_is_not_planned():
    """A planned value that is none of the usual adds a line, and takes none of the looks."""
    other = make_plan(Choices(LLAMA, KvMemory(10), dtype_bytes=8, block_size=32))
    lines = [
        t for t in plan_concurrency_figure(concurrency_curves(other)).data if t.mode == "lines"
    ]
    assert len(lines) == len(BLOCK_SIZES) + 1 + len(DTYPE_BYTES) + 1
    assert len(LOOKS) == max(len(BLOCK_SIZES), len(DTYPE_BYTES))


def test_both_scales_are_logarithmic_and_hold_everything():
    curves = concurrency_curves(FITS)
    layout = plan_concurrency_figure(curves).layout
    for axis in (layout.xaxis, layout.yaxis, layout.xaxis2, layout.yaxis2):
        assert axis.type == "log" and axis.title.font.size >= 14
    most = max(value for curve in curves.by_dtype for value in curve.requests)
    assert 10 ** layout.yaxis2.range[1] > most and 10 ** layout.yaxis2.range[0] < 1


def test_where_nothing_fits_there_is_no_star_and_that_is_said():
    curves = concurrency_curves(TIGHT)
    stars = [t for t in plan_concurrency_figure(curves).data if t.mode == "markers"]
    assert all(not star.x for star in stars)
    words = plan_concurrency_alt(curves)
    assert "Planned: 0.50 of 8,192 positions" in words
    assert "1.00 with 1 B a number" in words and "less than one with 4 B a number" in words
    assert words.endswith("so the plan has no star.")
    assert "no star" not in plan_concurrency_alt(concurrency_curves(FITS))


def test_requests_that_do_not_fit_whole_are_never_rounded_up():
    """1,999 blocks and 1,000 a request are 1.999 at once: 1.99 wherever it can be read."""
    almost = make_plan(Choices(LLAMA, KvMemory(1999 * 2 / 1024), max_len=16_000))
    assert (almost.num_blocks, almost.blocks_per_request) == (1999, 1000)
    curves, variants = concurrency_curves(almost), savings(almost)
    star = plan_concurrency_figure(curves).data[3]
    assert star.y == (1.99,)
    assert "Planned: 1.99 of 16,000 positions" in plan_concurrency_alt(curves)
    table = plan_concurrency_table(curves)
    planned = table[(table["line"] == "blocks of 16") & (table["length"] == 16_000)]
    assert planned["requests at once"].to_list() == [1.99]
    bar = plan_savings_figure(variants).data[-1]
    assert "1.99 at once" in bar.text[0] and "1.99 requests" in bar.hovertemplate
    assert "and 1.99 requests fit at once" in plan_savings_alt(variants)
    assert plan_savings_table(variants)["requests at once"].to_list() == [0.49, 1.99]


def test_concurrency_in_numbers():
    curves = concurrency_curves(FITS)
    table = plan_concurrency_table(curves)
    assert len(table) == sum(len(c.lengths) for c in (*curves.by_block_size, *curves.by_dtype))
    row = table[(table["line"] == "blocks of 16") & (table["length"] == 8192)]
    assert row["requests at once"].to_list() == [55.0]


def test_savings_are_bars_with_their_numbers():
    first, second = plan_savings_figure(savings(FITS)).data
    assert (first.x, second.x) == ((512.0,), (128.0,))
    assert "55.00 at once" in second.text[0]
    assert (first.marker.pattern.shape, second.marker.pattern.shape) == ("/", "")


def test_savings_in_words_and_numbers():
    assert plan_savings_alt(savings(FITS)) == (
        "A token takes 131,072 B on each GPU, as GQA, and 55.00 requests fit at once. As MHA, with "
        "a K and a V for every query head, it would take 524,288 B, 4.0 times as many, and 13.75 "
        "would fit."
    )
    mha = savings(make_plan(Choices(Geometry(2, 4, 8, num_heads=4), KvMemory(1))))
    assert plan_savings_alt(mha).endswith("nothing is shared.")
    one = savings(make_plan(Choices(Geometry(2, 1, 8, num_heads=1), KvMemory(1))))
    assert len(plan_savings_figure(one).data) == 1
    assert "as MHA" in plan_savings_alt(one) and plan_savings_alt(one).endswith("is shared.")
    assert plan_savings_table(savings(FITS))["kind"].to_list() == ["MHA", "GQA"]
