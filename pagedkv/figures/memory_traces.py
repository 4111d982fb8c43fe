"""What the memory figure is drawn with: bars with a pattern each, lines with a marker each."""

from collections.abc import Callable, Sequence
from html import escape
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go

from pagedkv.figures.filling import filled, haloed
from pagedkv.figures.memory_data import MemoryStory, Moment, Use
from pagedkv.figures.theme import CLEAR, Theme
from pagedkv.figures.words import WORDS, say

TEXT_UP_TO = 12  # frames; more have no room for numbers
LEAST_SHARE = 1 / 15  # of the scale, for a part of a bar that has room for its number


def bars(story: MemoryStory, look: Theme, *, contiguous: bool = False) -> list[go.Bar]:
    """Stack stored, empty and free positions, and those that make no whole block, if any."""
    shown = [(m, use) for m in story.moments if (use := _use(m, contiguous)) is not None]
    moments = [moment for moment, _ in shown]
    parts = {
        "stored": [use.stored for _, use in shown],
        "reserved_empty" if contiguous else "empty": [use.empty for _, use in shown],
        "free": [use.free for _, use in shown],
        "unusable": [0 if contiguous else story.unusable] * len(shown),
    }
    return [
        _bar(state, values, moments, story.capacity, look)
        for state, values in parts.items()
        if any(values)
    ]


def _use(moment: Moment, contiguous: bool) -> Use | None:
    return moment.contiguous if contiguous else moment.paged


def _bar(
    state: str, values: Sequence[int], moments: Sequence[Moment], capacity: int, look: Theme
) -> go.Bar:
    return go.Bar(
        name=WORDS[state],
        x=[moment.number for moment in moments],
        y=list(values),
        marker=_filling(state, look),
        text=numbers(values, capacity),
        textposition="inside",
        textangle=0,
        insidetextanchor="middle",
        insidetextfont=_number_font(state, look),
        constraintext="none",
        customdata=_titles(moments),
        hovertemplate=say("memory_hover", title="%{customdata}", name=WORDS[state]),
    )


def numbers(values: Sequence[int], capacity: int) -> list[str]:
    """Write the height of each part into it, where frames are few and the part is high enough."""
    few = len(values) <= TEXT_UP_TO
    return [str(v) if few and v >= LEAST_SHARE * capacity else "" for v in values]


def _number_font(state: str, look: Theme) -> dict[str, Any]:
    """Dark on light or light on dark."""
    colours = {"stored": (look.paper, look.stored), "empty": (look.ink, look.empty)}
    colours["reserved_empty"] = colours["empty"]
    ink, ground = colours.get(state, (look.ink, look.paper))
    return haloed(ink, ground)


def _filling(state: str, look: Theme) -> dict[str, Any]:
    """Colour and pattern of a state: told apart in grey as well."""
    fills = {
        "stored": (look.stored, ""),
        "empty": (look.empty, "/"),
        "reserved_empty": (look.empty, "\\"),
        "free": (CLEAR, "."),
        "unusable": (CLEAR, "x"),
    }
    colour, shape = fills[state]
    return filled(colour, shape, look)


def capacity_line(story: MemoryStory, look: Theme) -> go.Scatter:
    """Draw the size of the whole KV memory."""
    return go.Scatter(
        name=say("capacity", capacity=story.capacity),
        x=[0.5, len(story.moments) + 0.5],
        y=[story.capacity] * 2,
        mode="lines",
        line={"color": look.accent, "width": 3, "dash": "dash"},
        hoverinfo="skip",
        legendrank=2000,  # after the states
    )


def counts(story: MemoryStory, look: Theme) -> tuple[go.Scatter, go.Scatter]:
    """Draw table entries, dashed with squares, above blocks in use, solid with circles."""
    return (
        _count("table_entries", story, lambda m: m.table_entries, look.accent, "dot", "square"),
        _count("blocks_in_use", story, lambda m: m.blocks_in_use, look.stored, "solid", "circle"),
    )


def _count(
    name: str,
    story: MemoryStory,
    of: Callable[[Moment], int],
    colour: str,
    dash: str,
    symbol: str,
) -> go.Scatter:
    return go.Scatter(
        name=WORDS[name],
        x=[moment.number for moment in story.moments],
        y=[of(moment) for moment in story.moments],
        mode="lines+markers",
        line={"color": colour, "width": 3, "dash": dash, "shape": "hvh"},
        marker={"symbol": symbol, "size": 11, "color": colour},
        customdata=_titles(story.moments),
        hovertemplate=say("memory_hover", title="%{customdata}", name=WORDS[name]),
    )


def _titles(moments: Sequence[Moment]) -> list[str]:
    """Frame titles in short lines, so that the box fits a phone; never taken for markup."""
    return ["<br>".join(wrap(escape(m.title, quote=False), 30)) for m in moments]
