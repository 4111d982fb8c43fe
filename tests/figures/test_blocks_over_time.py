"""Blocks while answers are generated: what is drawn, marked, said and listed."""

import json
from dataclasses import replace

import pytest

from pagedkv.figures import blocks_alt, blocks_figure, blocks_table
from pagedkv.figures.theme import DARK, LIGHT
from pagedkv.generate.usage import Copy, Moment, Usage

COPIES = (Copy("R1", 1, 2), Copy("R2", 1, 3))
USAGE = Usage(
    block_size=4,
    num_answers=3,
    reserved_positions=27,
    moments=(
        Moment(1, 6, shared=2, unshared=6, reserved=9, copies=()),
        Moment(2, 3, shared=4, unshared=6, reserved=9, copies=COPIES),
        Moment(3, 3, shared=4, unshared=6, reserved=9, copies=()),
        Moment(4, 3, shared=7, unshared=9, reserved=9, copies=()),
    ),
)
NO_COPIES = replace(USAGE, moments=tuple(replace(m, copies=()) for m in USAGE.moments))


def drawn(usage=USAGE, **more):
    return {line.name: line for line in blocks_figure(usage, **more).data}


@pytest.mark.parametrize(
    ("name", "heights"),
    [
        ("with sharing, measured", (2, 4, 4, 7)),
        ("without sharing", (6, 6, 6, 9)),
        ("reserved in one piece", (9, 9, 9, 9)),
    ],
)
def test_each_line_has_a_point_for_every_execution(name, heights):
    line = drawn()[name]
    assert (line.x, line.y) == ((1, 2, 3, 4), heights)
    assert "lines+markers" in line.mode  # a point is what can be clicked
    assert name in line.hovertemplate


@pytest.mark.parametrize("dark", [False, True])
def test_lines_differ_in_colour_dash_and_marker(dark):
    lines = [line for line in drawn(dark=dark).values() if "lines" in line.mode]
    for looks in (
        {line.line.color for line in lines},
        {line.line.dash for line in lines},
        {line.marker.symbol for line in lines},
    ):
        assert len(looks) == 3


def test_every_copy_is_marked_on_the_measured_line_and_named():
    stars = drawn()["copied before a write"]
    assert (stars.x, stars.y) == ((2,), (4,))
    assert stars.marker.symbol == "star"
    (hover,) = stars.hovertemplate
    assert "R1: P1 → P2<br>R2: P1 → P3" in hover


def test_without_a_copy_there_is_no_mark():
    assert "copied before a write" not in drawn(NO_COPIES)


def test_a_chosen_point_stands_out_and_the_others_do_not_fade():
    for line in drawn().values():
        assert line.selected.marker.size > line.marker.size
        assert line.unselected.marker.opacity == 1


def test_scales_begin_at_nothing_and_hold_everything():
    layout = blocks_figure(USAGE).layout
    assert layout.yaxis.range[0] == 0
    assert layout.yaxis.range[1] > 9
    assert layout.xaxis.range[0] < 1
    assert layout.xaxis.range[1] > 4
    assert layout.yaxis.title.text == "blocks of 4"
    assert all(isinstance(tick, int) for tick in (*layout.xaxis.tickvals, *layout.yaxis.tickvals))


@pytest.mark.parametrize("dark", [False, True])
def test_the_figure_takes_the_theme_and_no_type_is_too_small(dark):
    layout = blocks_figure(USAGE, dark=dark).layout
    assert layout.font.color == (DARK if dark else LIGHT).ink
    assert layout.font.size >= 14
    assert layout.xaxis.title.font.size >= 14


def test_the_figure_is_json():
    json.loads(blocks_figure(USAGE).to_json(), parse_constant=lambda word: pytest.fail(word))


def test_words_tell_first_last_saving_and_copies():
    assert blocks_alt(USAGE) == (
        "Blocks of 4 over 4 executions. With sharing, counted in the cache: 2 at first, 7 at last. "
        "Without sharing: 6 and 9. Reserved in one piece: 9 throughout. At last sharing saves 2 "
        "blocks, 22 %. 2 blocks were copied before a write, in execution 2."
    )


def test_words_without_a_copy_and_for_one_of_a_kind():
    assert blocks_alt(NO_COPIES).endswith("No block was copied.")
    one = replace(USAGE.moments[1], copies=COPIES[:1])
    words = blocks_alt(replace(USAGE, moments=(replace(one, shared=5),)))
    assert "over 1 execution." in words
    assert "saves 1 block, 17 %." in words
    assert "1 block was copied before a write, in execution 2" in words


def test_the_table_lists_every_execution_with_its_saving_and_its_copies():
    table = blocks_table(USAGE)
    assert table["execution"].to_list() == [1, 2, 3, 4]
    assert table["blocks with sharing"].to_list() == [2, 4, 4, 7]
    assert table["saved"].to_list() == [4, 2, 2, 2]
    assert table["saved, %"].to_list() == [66.7, 33.3, 33.3, 22.2]
    assert table["copied"].to_list() == ["", "R1: P1 → P2, R2: P1 → P3", "", ""]
