"""Requests at once against their length: a panel for block sizes, a panel for dtypes.

Both scales are logarithmic; every line ends where one request fills the memory.
"""

from collections.abc import Sequence
from math import ceil, floor, log2, log10
from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pagedkv.figures.axes import ruled_axis
from pagedkv.figures.legend import legend_at_the_foot
from pagedkv.figures.theme import OKABE_ITO, TITLE_SIZE, Theme, base_figure, theme
from pagedkv.trace.written import Phrases

if TYPE_CHECKING:  # a figure reads what was counted and knows nobody who counts
    from pagedkv.planner.curves import Curve, Curves

PANEL_HEIGHT = 250
BETWEEN = 96  # pixels between panels
MARGIN = {"l": 66, "r": 16, "t": 44, "b": 170}
LOOKS = (  # of the lines that are not planned, in turn: colour, dash
    (OKABE_ITO[0], "dot"),
    (OKABE_ITO[5], "dash"),
    (OKABE_ITO[2], "dashdot"),
)
ROOM = 0.12  # of a power of ten, around what is drawn

WORDS = Phrases(
    {
        "by_block_size": "Block sizes",
        "by_dtype": "Bytes of a number",
        "block_size": "blocks of {value:,}",
        "dtype": "{value} B a number",
        "planned": "planned",
        "one": "one request",
        "x_axis": "length of each request, positions",
        "y_axis": "requests at once",
        "hover": "{name}<br>%{{x:,}} positions: %{{y:,.2f}} at once<extra></extra>",
        "alt": "Requests that fit at once, by their length. Planned: {requests:,.2f} of "
        "{length:,} positions. At that length with other block sizes: {sizes}; "
        "with other numbers: {dtypes}.",
        "alt_line": "{requests:,.2f} with {name}",
        "alt_none": "less than one with {name}",
        "alt_no_star": "Less than one is below the lines, so the plan has no star.",
    }
)


def plan_concurrency_figure(curves: "Curves", *, dark: bool = False) -> go.Figure:
    """Draw two panels of lines; the planned value is solid and thick, with a star at its length."""
    look = theme(dark)
    inner = 2 * PANEL_HEIGHT + BETWEEN
    figure = make_subplots(
        rows=2,
        vertical_spacing=BETWEEN / inner,
        subplot_titles=[f"<b>{WORDS.say(key)}</b>" for key in ("by_block_size", "by_dtype")],
        figure=base_figure(look, inner + MARGIN["t"] + MARGIN["b"], MARGIN),
    )
    for row, (key, lines, planned) in enumerate(_panels(curves), start=1):
        figure.add_traces(_lines(key, lines, planned, look), rows=row, cols=1)
        figure.add_trace(_star(curves, look, shows_name=row == 1), row=row, col=1)
        figure.update_yaxes(_requests_axis(lines, curves, look), row=row, col=1)
        figure.update_xaxes(_length_axis(lines, curves, look), row=row, col=1)
    figure.update_annotations(x=0, xanchor="left", font={"size": TITLE_SIZE, "color": look.ink})
    figure.update_layout(legend=legend_at_the_foot(look))
    return figure


def plan_concurrency_alt(curves: "Curves") -> str:
    """Say how many requests of the planned length fit with each block size and dtype."""
    sizes, dtypes = (
        ", ".join(_said(key, curve, curves.max_len) for curve in lines if curve.value != planned)
        for key, lines, planned in _panels(curves)
    )
    said = WORDS.say(
        "alt",
        requests=curves.requests_at_once,
        length=curves.max_len,
        sizes=sizes,
        dtypes=dtypes,
    )
    return said if _has_star(curves) else f"{said} {WORDS.say('alt_no_star')}"


def plan_concurrency_table(curves: "Curves") -> pd.DataFrame:
    """List every point of every line."""
    return pd.DataFrame(
        {
            "line": WORDS.say(key, value=curve.value),
            "length": length,
            "requests at once": requests,
        }
        for key, lines, _ in _panels(curves)
        for curve in lines
        for length, requests in zip(curve.lengths, curve.requests, strict=True)
    )


def _panels(curves: "Curves") -> list[tuple[str, Sequence["Curve"], int]]:
    return [
        ("block_size", curves.by_block_size, curves.block_size),
        ("dtype", curves.by_dtype, curves.dtype_bytes),
    ]


def _said(key: str, curve: "Curve", length: int) -> str:
    found = dict(zip(curve.lengths, curve.requests, strict=True)).get(length)
    name = WORDS.say(key, value=curve.value)
    if found is None:
        return WORDS.say("alt_none", name=name)
    return WORDS.say("alt_line", name=name, requests=found)


def _lines(key: str, lines: Sequence["Curve"], planned: int, look: Theme) -> list[go.Scatter]:
    others = iter(LOOKS)
    drawn = []
    for curve in lines:
        is_planned = curve.value == planned
        colour, dash = (look.stored, "solid") if is_planned else next(others)
        name = WORDS.say(key, value=curve.value)
        drawn.append(
            go.Scatter(
                name=name,
                x=list(curve.lengths),
                y=list(curve.requests),
                mode="lines",
                line={"color": colour, "dash": dash, "width": 4 if is_planned else 2.5},
                hovertemplate=WORDS.say("hover", name=name),
            )
        )
    return drawn


def _has_star(curves: "Curves") -> bool:
    """Whether a request fits: with less than one there is nowhere to draw it."""
    return curves.requests_at_once >= 1


def _star(curves: "Curves", look: Theme, *, shows_name: bool) -> go.Scatter:
    """The planned length; nowhere to be drawn if not even one request fits."""
    fits = _has_star(curves)
    return go.Scatter(
        name=WORDS.say("planned"),
        x=[curves.max_len] if fits else [],
        y=[curves.requests_at_once] if fits else [],
        mode="markers",
        marker={
            "symbol": "star",
            "size": 20,
            "color": OKABE_ITO[1],
            "line": {"color": look.ink, "width": 1.5},
        },
        showlegend=fits and shows_name,
        hovertemplate=WORDS.say("hover", name=WORDS.say("planned")),
    )


def _requests_axis(lines: Sequence["Curve"], curves: "Curves", look: Theme) -> dict[str, Any]:
    most = max([*(value for curve in lines for value in curve.requests), 10.0])
    powers = range(ceil(log10(most)) + 1)
    return ruled_axis(WORDS.say("y_axis"), look) | {
        "type": "log",
        "range": [-ROOM, log10(most) + ROOM],
        "tickvals": [10**power for power in powers],
        "ticktext": [f"{10**power:,}" for power in powers],
    }


def _length_axis(lines: Sequence["Curve"], curves: "Curves", look: Theme) -> dict[str, Any]:
    lengths = [length for curve in lines for length in curve.lengths] or [16, curves.max_len]
    least, most = min(lengths), max(lengths)
    first, last = floor(log2(least)), ceil(log2(max(most, 2 * least)))
    every = max(1, ceil((last - first) / 5))
    ticks = [2**power for power in range(first, last + 1, every)]
    return ruled_axis(WORDS.say("x_axis"), look) | {
        "type": "log",
        "range": [log10(least) - ROOM / 2, log10(max(most, 2 * least)) + ROOM],
        "tickvals": ticks,
        "ticktext": [_short(tick) for tick in ticks],
    }


def _short(number: int) -> str:
    """A power of two so that five of them stand beside each other on a phone.

    >>> _short(512), _short(131072), _short(2**24)
    ('512', '128K', '16M')
    """
    for unit, name in ((2**20, "M"), (2**10, "K")):
        if number >= unit:
            return f"{number // unit}{name}"
    return str(number)
