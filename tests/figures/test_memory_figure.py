"""Memory over frames: what is counted, and how it is drawn."""

import json

import plotly.graph_objects as go
import pytest
from figure_samples import frame, growing, reserving, sharing, totals, trace

from pagedkv.figures import memory_figure
from pagedkv.figures.memory_data import Use, memory_story
from pagedkv.figures.theme import TEXT_SIZE
from pagedkv.settings import Settings


def bars(figure: go.Figure) -> dict[str, tuple[int, ...]]:
    """Heights of the upper panel, by state."""
    return {d.name: d.y for d in figure.data if d.type == "bar" and d.yaxis in (None, "y")}


def test_each_frame_is_a_moment_that_counts_from_one():
    moments = memory_story(growing()).moments
    assert [moment.number for moment in moments] == [1, 2]
    assert moments[1].paged == Use(stored=8, empty=4, free=12)
    assert moments[1].paged.allocated == 12


def test_the_reservation_is_summed_where_a_frame_has_one():
    moments = memory_story(reserving()).moments
    assert moments[0].contiguous == Use(stored=6, empty=14, free=4)
    assert moments[2].contiguous is None


def test_only_what_happens_is_told_beside_the_pool():
    assert not memory_story(growing()).shares
    assert not memory_story(growing()).compares
    assert memory_story(sharing()).shares
    assert memory_story(reserving()).compares


def test_stacks_show_stored_empty_and_free_of_each_frame():
    assert bars(memory_figure(growing())) == {
        "stored": (6, 8),
        "allocated, empty": (2, 4),
        "free": (16, 12),
    }


def test_positions_that_make_no_whole_block_are_drawn_on_top():
    settings = Settings(block_size=5, capacity=23)
    use = totals(3, 2, capacity=20, blocks=1)
    stacks = bars(memory_figure(trace(frame(0, use=use), settings=settings)))
    assert stacks["unusable: no whole block"] == (3,)
    assert sum(sum(heights) for heights in stacks.values()) == 23


def test_a_state_that_never_occurs_is_not_in_the_legend():
    full = memory_figure(trace(frame(0, use=totals(24, 0, blocks=6))))
    assert set(bars(full)) == {"stored"}


def test_states_differ_in_more_than_colour():
    settings = Settings(block_size=5, capacity=23)
    use = totals(3, 2, capacity=20, blocks=1)
    figure = memory_figure(trace(frame(0, use=use), settings=settings))
    patterns = [bar.marker.pattern.shape for bar in figure.data if bar.type == "bar"]
    assert len(set(patterns)) == len(patterns) == 4


def test_a_line_stands_at_the_capacity():
    line = next(d for d in memory_figure(growing()).data if d.name == "capacity 24")
    assert set(line.y) == {24}
    assert line.line.dash == "dash"


def test_the_reservation_has_a_panel_at_the_same_scale():
    figure = memory_figure(reserving())
    assert figure.layout.yaxis.range == figure.layout.yaxis2.range
    lower = {d.name: d.y for d in figure.data if d.type == "bar" and d.yaxis == "y2"}
    assert lower == {"stored": (6, 6), "reserved, empty": (14, 14), "free": (4, 4)}


def test_sharing_has_a_panel_of_table_entries_and_blocks():
    figure = memory_figure(sharing())
    entries, blocks = (d for d in figure.data if d.yaxis == "y2")
    assert (entries.name, entries.y) == ("table entries", (4, 4))
    assert (blocks.name, blocks.y) == ("blocks in use", (2, 3))
    assert entries.line.dash != blocks.line.dash
    assert entries.marker.symbol != blocks.marker.symbol


def test_without_sharing_or_reservation_there_is_one_panel():
    assert "yaxis2" not in memory_figure(growing()).layout
    assert memory_figure(growing()).layout.height < memory_figure(sharing()).layout.height


def test_the_legend_names_everything_once():
    named = [d.name for d in memory_figure(reserving()).data if d.showlegend]
    assert sorted(named) == sorted(set(named))
    assert set(named) == {d.name for d in memory_figure(reserving()).data}


def test_ticks_are_whole_frames_and_whole_blocks():
    layout = memory_figure(growing()).layout
    assert layout.xaxis.tickvals == (1, 2)
    assert layout.yaxis.tickvals == (0, 4, 8, 12, 16, 20, 24)


def test_many_frames_have_fewer_ticks_and_no_numbers_in_the_bars():
    figure = memory_figure(trace(*(frame(i, use=totals(6, 2, blocks=2)) for i in range(40))))
    ticks = figure.layout.xaxis.tickvals
    assert 5 <= len(ticks) <= 13
    assert all(isinstance(tick, int) for tick in ticks)
    assert not any(any(bar.text) for bar in figure.data if bar.type == "bar")


def test_a_part_too_low_for_its_number_has_none():
    figure = memory_figure(trace(frame(0, use=totals(13, 1, blocks=4))))
    texts = {d.name: d.text for d in figure.data if d.type == "bar"}
    assert texts == {"stored": ("13",), "allocated, empty": ("",), "free": ("10",)}


def test_pointing_at_a_bar_tells_the_title_of_its_frame_and_no_title_is_markup():
    bar = memory_figure(reserving()).data[0]
    assert bar.customdata[0] == "One &lt;piece&gt;"
    assert "%{customdata}" in bar.hovertemplate
    assert "%{y}" in bar.hovertemplate


def test_a_pool_without_any_block_is_drawn_as_unusable():
    settings = Settings(block_size=32, capacity=4)
    figure = memory_figure(trace(frame(0, use=totals(0, 0, capacity=0)), settings=settings))
    assert bars(figure) == {"unusable: no whole block": (4,)}
    assert figure.layout.yaxis.tickvals == (0, 4)


@pytest.mark.parametrize("dark", [False, True])
def test_no_type_is_smaller_than_can_be_read(dark):
    layout = memory_figure(reserving(), dark=dark).layout
    assert layout.font.size == TEXT_SIZE >= 14
    assert min(note.font.size for note in layout.annotations) >= 16
    assert layout.xaxis2.title.font.size >= 14


def test_json_holds_no_nan():
    text = memory_figure(reserving()).to_json()
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
