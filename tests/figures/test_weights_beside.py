"""Right and faulty weights beside each other: what is drawn, shaded and said."""

import json
from itertools import pairwise

import numpy as np
import pytest

from pagedkv.figures import weights_beside_alt, weights_beside_figure
from pagedkv.figures.theme import DARK, LIGHT, OKABE_ITO

RIGHT = np.array([[0.5, 0.25, 0.25], [0.125, 0.875, 0.0]])
FAULTY = np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]], np.float32)
TOKENS = ("<", "\n", "")
MISREAD = np.array([[False, False, True], [False, True, True]])
NOTHING = np.zeros_like(MISREAD)


def drawn(faulty=FAULTY, misread=MISREAD, **more):
    return weights_beside_figure(RIGHT, faulty, TOKENS, misread, **more)


def bars(figure, row):
    """Right and faulty of one panel."""
    axis = "y" if row == 0 else f"y{row + 1}"
    return [d for d in figure.data if d.type == "bar" and d.yaxis == axis]


@pytest.mark.parametrize("head", [0, 1])
def test_each_head_has_both_weights_of_each_position(head):
    right, faulty = bars(drawn(), head)
    assert (right.name, faulty.name) == ("right", "faulty")
    assert right.x == faulty.x == (0, 1, 2)
    assert right.y == tuple(RIGHT[head])
    assert faulty.y == tuple(FAULTY[head])


def test_right_and_faulty_differ_in_colour_and_in_pattern():
    right, faulty = bars(drawn(), 0)
    assert {right.marker.color, faulty.marker.color} <= set(OKABE_ITO)
    assert right.marker.color != faulty.marker.color
    assert (right.marker.pattern.shape, faulty.marker.pattern.shape) == (None, "/")


@pytest.mark.parametrize("dark", [False, True])
def test_every_bar_is_outlined_in_ink(dark):
    look = DARK if dark else LIGHT
    outlines = {b.marker.line.color for b in drawn(dark=dark).data if b.type == "bar"}
    assert outlines == {look.ink}


def test_a_position_is_shaded_in_the_panels_of_the_heads_that_misread_it():
    shaded = {(shape.xref, shape.x0, shape.x1) for shape in drawn().layout.shapes}
    assert shaded == {("x", 1.5, 2.5), ("x2", 0.5, 1.5), ("x2", 1.5, 2.5)}
    assert {shape.layer for shape in drawn().layout.shapes} == {"below"}
    assert not drawn(misread=NOTHING).layout.shapes


def test_labels_are_token_over_position_bold_where_misread_and_never_markup():
    (labels,) = {axis.ticktext for axis in drawn().select_xaxes()}
    assert labels == ("&lt;<br>0", "<b>↵<br>1</b>", "<b><br>2</b>")
    assert drawn(misread=NOTHING).layout.xaxis.ticktext[1] == "↵<br>1"


def test_pointing_at_a_bar_tells_position_head_and_weight():
    hover = bars(drawn(), 1)[1].hovertemplate
    assert hover[0] == "&lt; 0<br>faulty: %{y:.3f}<extra>query head 1</extra>"
    assert hover[2].startswith("2<br>")


def test_many_positions_have_labels_as_far_as_they_fit():
    weights = np.full((1, 40), 1 / 40)
    figure = weights_beside_figure(weights, weights, "a" * 40, weights < 0)
    ticks = figure.layout.xaxis.tickvals
    assert len(ticks) <= 15
    assert len({after - before for before, after in pairwise(ticks)}) == 1


def test_fourteen_positions_all_have_labels_on_a_phone():
    weights = np.full((4, 14), 1 / 14)
    figure = weights_beside_figure(weights, weights, "a" * 14, weights < 0)
    assert figure.layout.xaxis.tickvals == tuple(range(14))


def test_all_panels_have_the_scale_of_a_weight():
    for axis in drawn().select_yaxes():
        assert axis.range[0] == 0
        assert 1 <= axis.range[1] < 1.1
        assert axis.tickvals == (0, 0.5, 1)


def test_nan_has_a_cross_and_no_bar():
    faulty = FAULTY.copy()
    faulty[1] = np.nan
    figure = drawn(faulty)
    assert bars(figure, 1)[1].y == (None, None, None)
    (crosses,) = (d for d in figure.data if d.name == "faulty: NaN")
    assert crosses.x == (0, 1, 2)
    assert crosses.yaxis == "y2"
    assert crosses.marker.symbol == "x"
    assert "faulty: NaN" not in {d.name for d in drawn().data}


def test_the_legend_below_names_everything_once():
    named = [d.name for d in drawn().data if d.showlegend]
    assert named == ["right", "faulty", "K or V misread"]
    assert drawn().layout.legend.y < 0
    assert drawn().layout.legend.orientation == "h"


def test_each_head_makes_the_figure_higher():
    one = weights_beside_figure(RIGHT[:1], FAULTY[:1], TOKENS, MISREAD[:1])
    assert one.layout.height < drawn().layout.height
    assert [note.text for note in drawn().layout.annotations] == ["query head 0", "query head 1"]


@pytest.mark.parametrize("dark", [False, True])
def test_no_type_is_smaller_than_can_be_read(dark):
    layout = drawn(dark=dark).layout
    assert layout.font.size >= 14
    assert min(note.font.size for note in layout.annotations) >= 14
    assert layout.xaxis2.title.font.size >= 14
    assert layout.font.color == (DARK if dark else LIGHT).ink


def test_json_holds_no_nan():
    text = drawn(np.full_like(FAULTY, np.nan)).to_json()
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_words_tell_what_is_drawn_and_where_it_differs_most():
    assert weights_beside_alt(RIGHT, FAULTY, MISREAD) == (
        "Attention weights of 2 heads over 3 positions, right and faulty; K or V were misread at 2 "
        "of them, by 2 heads. They are furthest apart in head 1 at position 2: 0 is right and 0.75 "
        "is faulty, a difference of 0.75."
    )


def test_words_count_positions_and_heads_that_were_misled():
    one = np.array([[False, False, True], [False, False, False]])
    assert "misread at 1 of them, by 1 head. " in weights_beside_alt(RIGHT, FAULTY, one)


def test_words_without_a_fault_say_that_nothing_differs():
    words = weights_beside_alt(RIGHT, RIGHT, NOTHING)
    assert words.endswith("right and faulty; nothing was misread. No weight differs.")


def test_words_count_what_is_nan_and_judge_the_rest():
    faulty = FAULTY.copy()
    faulty[1] = np.nan
    words = weights_beside_alt(RIGHT, faulty, MISREAD)
    assert "3 of 6 faulty weights are NaN" in words
    assert "at most 0.25 apart, in head 0 at position 1" in words
    all_nan = weights_beside_alt(RIGHT, np.full_like(FAULTY, np.nan), MISREAD)
    assert all_nan.endswith("Every faulty weight is NaN.")


@pytest.mark.parametrize(
    "say", [weights_beside_alt, lambda *a: weights_beside_figure(*a[:2], TOKENS, a[2])]
)
def test_shapes_that_do_not_fit_are_refused(say):
    for arrays in ((RIGHT, FAULTY[:1], MISREAD), (RIGHT, FAULTY, MISREAD[0]), (RIGHT[0],) * 3):
        with pytest.raises(ValueError, match="all must be the same"):
            say(*arrays)


def test_a_token_for_each_position_is_asked_for():
    with pytest.raises(ValueError, match="2 tokens for 3 positions"):
        weights_beside_figure(RIGHT, FAULTY, TOKENS[:2], MISREAD)
