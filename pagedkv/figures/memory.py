"""Memory over the frames of a lesson: a stack of stored, empty and free positions for each frame.

Bars, not areas: between two frames there is nothing. Below it, where the lesson has it, the
contiguous baseline at the same scale, or table entries beside the blocks that they point to.
"""

from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pagedkv.figures.axes import axis_name, value_axis
from pagedkv.figures.geometry import WIDTH, every, ticks
from pagedkv.figures.legend import legend_below_the_axis
from pagedkv.figures.memory_data import MemoryStory, memory_story
from pagedkv.figures.memory_traces import bars, capacity_line, counts
from pagedkv.figures.theme import TITLE_SIZE, Theme, base_figure, name_once, theme
from pagedkv.figures.words import WORDS
from pagedkv.trace.frame import Trace

PANEL_HEIGHT = 250
BETWEEN = 80  # pixels between panels
HEADROOM = 1.12  # of the scale, above its highest value
FEWEST = 6  # frames that the scale has room for; else a single bar would be a wall
MARGIN = {"l": 52, "r": 12, "t": 44, "b": 100}


@dataclass(frozen=True, slots=True)
class Panel:
    """One of the pictures below each other; its scale reaches a little above ``top``."""

    heading: str
    axis: str
    traces: tuple[go.Bar | go.Scatter, ...]
    top: int
    unit: int  # ticks stand at its multiples


def memory_figure(trace: Trace, *, dark: bool = False) -> go.Figure:
    """Draw the memory of the whole lesson; the figure brings its height with it."""
    story, look = memory_story(trace), theme(dark)
    panels = _panels(story, look)
    figure = make_subplots(
        rows=len(panels),
        shared_xaxes=True,
        vertical_spacing=BETWEEN / _inner_height(panels),
        subplot_titles=[f"<b>{panel.heading}</b>" for panel in panels],
        figure=base_figure(look, _inner_height(panels) + MARGIN["t"] + MARGIN["b"], MARGIN),
    )
    for row, panel in enumerate(panels, start=1):
        figure.add_traces(panel.traces, rows=row, cols=1)
        figure.update_yaxes(_value_axis(panel, look), row=row, col=1)
    name_once(figure)
    figure.update_xaxes(_frame_axis(story, look))
    figure.update_xaxes(title=axis_name(WORDS["frame_axis"]), row=len(panels), col=1)
    figure.update_annotations(x=0, xanchor="left", font={"size": TITLE_SIZE, "color": look.ink})
    legend = legend_below_the_axis(look, _inner_height(panels))
    figure.update_layout(barmode="stack", bargap=0.12, legend=legend)
    return figure


def _panels(story: MemoryStory, look: Theme) -> list[Panel]:
    slots, size = WORDS["slots_axis"], story.block_size
    limit = capacity_line(story, look)
    in_blocks = (*bars(story, look), limit)
    panels = [Panel(WORDS["memory_blocks"], slots, in_blocks, story.capacity, size)]
    if story.compares:
        in_one_piece = (*bars(story, look, contiguous=True), limit)
        panels.append(Panel(WORDS["memory_contiguous"], slots, in_one_piece, story.capacity, size))
    if story.shares:
        most = max(moment.table_entries for moment in story.moments)
        panels.append(
            Panel(WORDS["memory_sharing"], WORDS["count_axis"], counts(story, look), most, 1)
        )
    return panels


def _inner_height(panels: list[Panel]) -> int:
    return PANEL_HEIGHT * len(panels) + BETWEEN * (len(panels) - 1)


def _value_axis(panel: Panel, look: Theme) -> dict[str, Any]:
    """Whole numbers only, from 0 to a little above the highest value."""
    return value_axis(look) | {
        "title": axis_name(panel.axis),
        "range": [0, panel.top * HEADROOM],
        "tickvals": ticks(panel.top, panel.unit),
    }


def _frame_axis(story: MemoryStory, look: Theme) -> dict[str, Any]:
    frames = len(story.moments)
    return {
        "range": [0.5, max(frames, FEWEST) + 0.5],
        "tickvals": [index + 1 for index in every(frames, WIDTH, 24)],
        "showticklabels": True,
        "showgrid": False,
        "zeroline": False,
        "linecolor": look.ink,
        "fixedrange": True,
    }
