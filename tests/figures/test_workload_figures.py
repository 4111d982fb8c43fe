"""What simulations came to: drawn to scale, told apart without colour, said and listed."""

import json

import pytest

from pagedkv.figures import (
    batches_alt,
    batches_figure,
    batches_table,
    compared_table,
    savings_alt,
    savings_figure,
    savings_table,
    shares_alt,
    shares_figure,
    shares_table,
    sizes_alt,
    sizes_figure,
    sizes_table,
)
from pagedkv.figures.theme import DARK, LIGHT
from pagedkv.workloads.compare import PARTS
from pagedkv.workloads.figure_data import BatchLine, ComparedRow, Saving, ShareBar, SizePoint


def bar(policy: str, is_paper: bool, *values: float | None) -> ShareBar:
    return ShareBar(policy, is_paper, dict(zip(PARTS, values, strict=True)))


BARS = (
    bar("Max", False, 20.0, 13.0, 58.0, 9.0),
    bar("Max", True, 20.4, 13.3, 57.3, 8.9),
    bar("Paged", False, 97.0, 1.5, 0.5, 1.0),
    bar("Paged", True, 96.3, None, None, None),
)
LINES = (
    BatchLine("max", "Max", ((0, 6.0), (100, 7.0)), 7.0, 7.0),
    BatchLine("paged", "Paged", ((0, 40.0), (50, 30.0)), 34.0, 30.42),
    BatchLine("oracle", "Oracle", ((0, 12.0),), 12.0, None),
)
NOBODY = BatchLine("max", "Max", (), 0.0, None)
POINTS = (SizePoint(1, 0.0, 35.0), SizePoint(16, 2.0, 34.0), SizePoint(256, 22.0, 27.0))
GROUPS = (Saving(2, 7.1, 6.09, 37.56), Saving(4, 10.6, None, None))

FIGURES = [
    (shares_figure, BARS),
    (batches_figure, LINES),
    (sizes_figure, POINTS),
    (savings_figure, GROUPS),
]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("draw", "data"), FIGURES)
def test_every_figure_takes_the_theme_is_json_and_sets_no_type_too_small(draw, data, dark):
    figure = draw(data, dark=dark)
    assert figure.layout.font.color == (DARK if dark else LIGHT).ink
    assert figure.layout.font.size >= 14
    assert figure.layout.height > 200
    json.loads(figure.to_json(), parse_constant=lambda word: pytest.fail(word))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("draw", "data"), FIGURES)
def test_nothing_is_told_by_colour_alone(draw, data, dark):
    traces = draw(data, dark=dark).data
    bars = [t.marker.pattern.shape or "" for t in traces if t.type == "bar"]
    lines = [t.line.dash for t in traces if t.type == "scatter" and t.showlegend is not False]
    assert len(set(bars)) == len(bars)
    assert len(set(lines)) == len(lines)


def test_parts_of_a_bar_stand_one_after_the_other():
    parts = {trace.name: trace for trace in shares_figure(BARS).data}
    assert list(parts["tokens"].x) == [20.0, 20.4, 97.0, 96.3]
    assert list(parts["reserved, filled later"].x) == [13.0, 13.3, 1.5, 0.0]
    assert list(parts["not told apart in the paper"].x) == pytest.approx([0, 0, 0, 3.7])
    totals = [sum(part.x[row] for part in parts.values()) for row in range(len(BARS))]
    assert totals == pytest.approx([100, 99.9, 100, 100])


def test_a_number_stands_in_a_part_that_has_room_for_it():
    parts = {trace.name: trace for trace in shares_figure(BARS).data}
    assert list(parts["tokens"].text) == ["20.0", "20.4", "97.0", "96.3"]
    assert list(parts["reserved, filled later"].text) == ["13.0", "13.3", "", ""]


def test_rows_name_the_policy_and_the_paper():
    assert list(shares_figure(BARS).layout.yaxis.ticktext) == [
        "<b>Max</b>",
        "in the paper",
        "<b>Paged</b>",
        "in the paper",
    ]


def test_without_the_paper_there_is_no_part_that_it_does_not_tell():
    names = [trace.name for trace in shares_figure(BARS[::2]).data]
    assert len(names) == 4 and "not told apart in the paper" not in names


def test_each_line_has_its_points_and_the_papers_mean_across():
    figure = batches_figure(LINES)
    drawn = [(trace.name, trace.x, trace.y) for trace in figure.data]
    assert drawn[:3] == [
        ("Max: mean 7.00, in the paper 7.00", (0, 100), (6.0, 7.0)),
        ("Paged: mean 34.00, in the paper 30.42", (0, 50), (40.0, 30.0)),
        ("Oracle: mean 12.00", (0,), (12.0,)),
    ]
    assert [(x, y) for _, x, y in drawn[3:]] == [((0, 100), (7.0, 7.0)), ((0, 100), (30.42, 30.42))]
    assert [trace.showlegend for trace in figure.data] == [True, True, True, True, False]
    assert figure.layout.yaxis.range[0] == 0 and figure.layout.yaxis.range[1] > 40


def test_a_line_without_a_point_can_be_drawn():
    assert batches_figure((NOBODY,)).data[0].x == ()


def test_a_policy_under_which_nobody_ran_has_no_mean():
    assert batches_figure((NOBODY, LINES[1])).data[0].name == "Max: nobody ran"
    said = batches_alt((NOBODY, LINES[1]))
    assert "Max: nobody ran. Paged: mean 34.00" in said and "0.0," not in said


def test_chart_and_text_write_the_same_decimals():
    points = (SizePoint(1, 0.0, 34.68), SizePoint(256, 22.04, 1026.79))
    bars, line = sizes_figure(points).data
    assert (list(bars.text), list(line.text)) == (["0.0", "22.0"], ["34.7", "1,026.8"])
    for value in (*bars.text, *line.text):
        assert value in sizes_alt(points)
    for trace in savings_figure(GROUPS).data:
        assert trace.text[0] in savings_alt(GROUPS)


def test_block_sizes_are_equally_far_apart():
    bars, line = sizes_figure(POINTS).data
    assert bars.x == line.x == ("1", "16", "256")
    assert (bars.y, line.y) == ((0.0, 2.0, 22.0), (35.0, 34.0, 27.0))
    assert sizes_figure(POINTS).layout.xaxis.type == "category"


def test_a_saving_that_is_not_printed_is_left_out():
    bars = {trace.name: trace for trace in savings_figure(GROUPS).data}
    assert list(bars["simulated"].y) == [7.1, 10.6]
    assert list(bars["paper, parallel sampling"].y) == [6.09, None]
    assert list(bars["paper, beam search (not simulated)"].text) == ["37.6", ""]
    assert len(savings_figure((Saving(2, 7.1, None, None),)).data) == 1


def test_words():
    assert shares_alt(BARS[2:]) == (
        "Share of memory on average. Paged: tokens 97.0 %, reserved 1.5, internal 0.5, external "
        "1.0. In the paper tokens 96.3 %."
    )
    assert batches_alt(LINES[1:]) == (
        "Requests in a batch, over iterations; means are over those in which somebody runs. "
        "Paged: mean 34.00, the curve reaches 40.0. In the paper 30.42. Oracle: mean 12.00, the "
        "curve reaches 12.0."
    )
    assert sizes_alt(POINTS).startswith(
        "Block sizes from 1 to 256. Empty slots among those held: 0.0"
    )
    assert savings_alt(GROUPS) == (
        "Blocks saved by sharing. 2 answers: 7.1 %. In the paper 6.1 % by sampling, 37.6 % by "
        "beam search. 4 answers: 10.6 %."
    )


def test_tables():
    shares = shares_table(BARS)
    assert list(shares["token, %"]) == [20.0, 20.4, 97.0, 96.3]
    assert shares["external, %"].isna().to_list() == [False, False, False, True]
    assert batches_table(LINES)["from iteration"].to_list() == [0, 100, 0, 50, 0]
    assert sizes_table(POINTS)["requests in a batch"].to_list() == [35.0, 34.0, 27.0]
    assert savings_table(GROUPS)["answers"].to_list() == [2, 4]
    row = ComparedRow("Max", "token, %", 19.94, 20.4, -0.46, "figure 2", "read in one copy")
    (listed,) = compared_table((row,), "policy").to_dict("records")
    assert listed == {
        "policy": "Max",
        "quantity": "token, %",
        "ours": 19.94,
        "paper": 20.4,
        "difference": -0.46,
        "where": "figure 2",
        "how sure": "read in one copy",
    }
