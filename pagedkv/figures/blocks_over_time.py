"""Blocks in use while answers are generated: with sharing, without, and reserved in one piece.

No trace: the numbers come counted, a moment for each execution. Its words stand here.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go

from pagedkv.figures.axes import axis_name, value_axis
from pagedkv.figures.geometry import every, ticks
from pagedkv.figures.legend import legend_below_the_axis
from pagedkv.figures.theme import OKABE_ITO, Theme, base_figure, theme
from pagedkv.trace.written import Phrases

if TYPE_CHECKING:  # a figure reads what was counted and knows nobody who counts
    from pagedkv.generate.usage import Copy, Moment, Usage

HEIGHT = 430
MARGIN = {"l": 56, "r": 12, "t": 16, "b": 140}
HEADROOM = 1.06  # of the scale, above its highest value
FEWEST = 6  # executions that the scale has room for
MANY = 32  # executions; the markers of more would hide the dashes
WIDTH = 300  # pixels of the plot at the narrowest
LABEL_WIDTH = 30  # pixels of a tick label of three digits

WORDS = Phrases(
    {
        "shared": "with sharing, measured",
        "unshared": "without sharing",
        "reserved": "reserved in one piece",
        "copied": "copied before a write",
        "x_axis": "execution",
        "y_axis": "blocks of {block_size}",
        "hover": "{name}: %{{y}}<extra>execution %{{x}}</extra>",
        "copies_hover": "{copies}<extra>execution %{{x}}</extra>",
        "copy": "{request}: P{source} → P{destination}",
        "alt": "Blocks of {size} over {executions}. With sharing, counted in the cache: {first} at "
        "first, {last} at last. Without sharing: {first_unshared} and {last_unshared}. Reserved in "
        "one piece: {reserved} throughout.",
        "alt_saved": "At last sharing saves {saved}, {percent:.0f} %.",
        "alt_copies": "{copies}, in execution {numbers}.",
        "alt_no_copies": "No block was copied.",
        "executions": "1 execution|{count} executions",
        "blocks": "1 block|{count} blocks",
        "copies": "1 block was copied before a write|{count} blocks were copied before a write",
    }
)


def blocks_figure(usage: "Usage", *, dark: bool = False) -> go.Figure:
    """Draw three lines over the executions and a star where blocks were copied.

    The x of every point is its execution, from 1. Lines differ in colour, dash and marker.
    """
    look, moments = theme(dark), usage.moments
    figure = base_figure(look, HEIGHT, MARGIN)
    vermilion = OKABE_ITO[5]
    figure.add_traces(
        [
            _line("reserved", moments, lambda m: m.reserved, look.muted, "dot", "triangle-up"),
            _line("unshared", moments, lambda m: m.unshared, vermilion, "dash", "square"),
            _line("shared", moments, lambda m: m.shared, look.stored, "solid", "circle"),
        ]
    )
    if any(moment.copies for moment in moments):
        figure.add_trace(_copies(moments, look))
    top = max(max(m.reserved, m.unshared, m.shared) for m in moments)
    figure.update_xaxes(_execution_axis(len(moments), look))
    figure.update_yaxes(_block_axis(top, usage.block_size, look))
    legend = legend_below_the_axis(look, HEIGHT - MARGIN["t"] - MARGIN["b"])
    figure.update_layout(legend=legend | {"traceorder": "reversed"})
    return figure


def blocks_alt(usage: "Usage") -> str:
    """Say how many blocks are held at first and at last, what is saved, and what was copied."""
    first, last = usage.moments[0], usage.moments[-1]
    about = WORDS.say(
        "alt",
        size=usage.block_size,
        executions=WORDS.say_count("executions", len(usage.moments)),
        first=first.shared,
        last=last.shared,
        first_unshared=first.unshared,
        last_unshared=last.unshared,
        reserved=last.reserved,
    )
    saved = WORDS.say(
        "alt_saved",
        saved=WORDS.say_count("blocks", last.saved),
        percent=last.saved_percent,
    )
    return f"{about} {saved} {_copies_in_words(usage.moments)}"


def blocks_table(usage: "Usage") -> pd.DataFrame:
    """List the moments: blocks held, blocks saved, and what was copied."""
    return pd.DataFrame(
        {
            "execution": moment.number,
            "inputs processed": moment.num_inputs,
            "blocks with sharing": moment.shared,
            "without sharing": moment.unshared,
            "reserved in one piece": moment.reserved,
            "saved": moment.saved,
            "saved, %": round(moment.saved_percent, 1),
            "copied": ", ".join(map(_copy, moment.copies)),
        }
        for moment in usage.moments
    )


def _line(
    key: str,
    moments: Sequence["Moment"],
    of: Callable[["Moment"], int],
    colour: str,
    dash: str,
    symbol: str,
) -> go.Scatter:
    name = WORDS.say(key)
    return go.Scatter(
        name=name,
        x=[moment.number for moment in moments],
        y=[of(moment) for moment in moments],
        mode="lines+markers",
        line={"color": colour, "width": 2.5, "dash": dash, "shape": "hv"},
        marker={"symbol": symbol, "size": 8 if len(moments) <= MANY else 5, "color": colour},
        # A moment that was chosen is larger; the others do not fade.
        selected={"marker": {"size": 14}},
        unselected={"marker": {"opacity": 1}},
        hovertemplate=WORDS.say("hover", name=name),
    )


def _copies(moments: Sequence["Moment"], look: Theme) -> go.Scatter:
    """A star on the measured line at every moment that copied; pointing at it names the blocks."""
    shown = [moment for moment in moments if moment.copies]
    return go.Scatter(
        name=WORDS.say("copied"),
        x=[moment.number for moment in shown],
        y=[moment.shared for moment in shown],
        mode="markers",
        marker={
            "symbol": "star",
            "size": 18,
            "color": OKABE_ITO[1],
            "line": {"color": look.ink, "width": 1.5},
        },
        selected={"marker": {"size": 24}},
        unselected={"marker": {"opacity": 1}},
        hovertemplate=[
            WORDS.say("copies_hover", copies="<br>".join(map(_copy, moment.copies)))
            for moment in shown
        ],
    )


def _copy(copy: "Copy") -> str:
    return WORDS.say("copy", request=copy.request, source=copy.source, destination=copy.destination)


def _copies_in_words(moments: Sequence["Moment"]) -> str:
    count = sum(len(moment.copies) for moment in moments)
    if count == 0:
        return WORDS.say("alt_no_copies")
    numbers = ", ".join(str(moment.number) for moment in moments if moment.copies)
    return WORDS.say("alt_copies", copies=WORDS.say_count("copies", count), numbers=numbers)


def _execution_axis(count: int, look: Theme) -> dict[str, Any]:
    return {
        "title": axis_name(WORDS.say("x_axis")),
        "range": [0.5, max(count, FEWEST) + 0.5],
        "tickvals": [index + 1 for index in every(count, WIDTH, LABEL_WIDTH)],
        "showgrid": False,
        "zeroline": False,
        "linecolor": look.ink,
        "fixedrange": True,
    }


def _block_axis(top: int, block_size: int, look: Theme) -> dict[str, Any]:
    name = WORDS.say("y_axis", block_size=block_size)
    return value_axis(look) | {
        "title": axis_name(name),
        "range": [0, top * HEADROOM],
        "tickvals": ticks(top, 1),
    }
