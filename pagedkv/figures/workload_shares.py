"""What memory is used for under each policy: a bar of four parts, the paper's bar beside ours.

No trace: the numbers come from a simulation. Its words stand here.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go

from pagedkv.figures.filling import filled, haloed
from pagedkv.figures.legend import legend_at_the_foot
from pagedkv.figures.theme import CLEAR, Theme, base_figure, theme
from pagedkv.trace.written import Phrases

if TYPE_CHECKING:  # a figure reads what was counted and knows nobody who counts
    from pagedkv.workloads.figure_data import ShareBar

ROW_HEIGHT = 40
MARGIN = {"l": 108, "r": 20, "t": 8, "b": 136}
LEAST_SHARE = 9  # per cent that have room for their number

WORDS = Phrases(
    {
        "token": "tokens",
        "reserved": "reserved, filled later",
        "internal": "never filled (internal)",
        "external": "between reservations, or free (external)",
        "unsplit": "not told apart in the paper",
        "ours": "{policy}",
        "paper": "in the paper",
        "hover": "{row}<br>{name}: %{{x:.1f}} %<extra></extra>",
        "alt": "Share of memory on average. {bars}",
        "alt_bar": "{policy}: tokens {token:.1f} %, reserved {reserved:.1f}, internal "
        "{internal:.1f}, external {external:.1f}.",
        "alt_paper": "In the paper tokens {token:.1f} %.",
    }
)


def shares_figure(bars: Sequence["ShareBar"], *, dark: bool = False) -> go.Figure:
    """Draw at least one bar, from 0 to 100 %; parts differ in colour and pattern."""
    look = theme(dark)
    height = ROW_HEIGHT * len(bars) + MARGIN["t"] + MARGIN["b"]
    figure = base_figure(look, height, MARGIN)
    for part in bars[0].parts:
        figure.add_trace(_part(part, [bar.parts[part] for bar in bars], bars, look))
    rest = [_rest(bar) for bar in bars]
    if any(rest):
        figure.add_trace(_part("unsplit", rest, bars, look))
    figure.update_xaxes(_share_axis(look))
    figure.update_yaxes(
        tickvals=list(range(len(bars))),
        ticktext=[_row(bar) for bar in bars],
        range=[len(bars) - 0.5, -0.5],
        ticks="outside",
        ticklen=6,
        tickcolor=CLEAR,
        fixedrange=True,
        showgrid=False,
        zeroline=False,
    )
    figure.update_layout(barmode="stack", bargap=0.18, legend=legend_at_the_foot(look))
    return figure


def shares_alt(bars: Sequence["ShareBar"]) -> str:
    """Say every bar in a sentence."""
    said = []
    for bar in bars:
        key = "alt_paper" if bar.is_paper else "alt_bar"
        values = {part: value or 0.0 for part, value in bar.parts.items()}
        said.append(WORDS.say(key, policy=bar.policy, **values))
    return WORDS.say("alt", bars=" ".join(said))


def shares_table(bars: Sequence["ShareBar"]) -> pd.DataFrame:
    """List the bars; what the paper does not print stays empty."""
    return pd.DataFrame(
        {
            "policy": bar.policy,
            "from": "the paper" if bar.is_paper else "the simulation",
            **{
                f"{part}, %": None if value is None else round(value, 2)
                for part, value in bar.parts.items()
            },
        }
        for bar in bars
    )


def _rest(bar: "ShareBar") -> float:
    """Per cent that a bar of the paper says nothing of, where it prints one part only."""
    printed = [part for part in bar.parts.values() if part is not None]
    return 100 - printed[0] if len(printed) == 1 else 0.0


def _row(bar: "ShareBar") -> str:
    return WORDS.say("paper" if bar.is_paper else "ours", policy=f"<b>{bar.policy}</b>")


def _part(
    part: str, values: Sequence[float | None], bars: Sequence["ShareBar"], look: Theme
) -> go.Bar:
    name = WORDS.say(part)
    return go.Bar(
        name=name,
        orientation="h",
        x=[value or 0.0 for value in values],
        y=list(range(len(bars))),
        marker=_filling(part, look),
        text=[f"{value:.1f}" if value and value >= LEAST_SHARE else "" for value in values],
        textposition="inside",
        textangle=0,
        insidetextanchor="middle",
        insidetextfont=_number_font(part, look),
        constraintext="none",
        hovertemplate=[
            WORDS.say(
                "hover", row=f"{bar.policy}, {_row(bar)}" if bar.is_paper else _row(bar), name=name
            )
            for bar in bars
        ],
    )


def _filling(part: str, look: Theme) -> dict[str, Any]:
    """Colour and pattern: told apart in grey as well, and as in the lessons' memory figure."""
    colour, shape = {
        "token": (look.stored, ""),
        "reserved": (look.empty, "/"),
        "internal": (look.empty, "x"),
        "external": (CLEAR, "."),
        "unsplit": (CLEAR, "-"),
    }[part]
    return filled(colour, shape, look)


def _number_font(part: str, look: Theme) -> dict[str, Any]:
    """Dark on light or light on dark."""
    grounds = {"token": look.stored, "reserved": look.empty, "internal": look.empty}
    ground = grounds.get(part, look.paper)
    ink = look.paper if part == "token" else look.ink
    return haloed(ink, ground)


def _share_axis(look: Theme) -> dict[str, Any]:
    return {
        "range": [0, 100.5],
        "tickvals": [0, 25, 50, 75, 100],
        "ticktext": ["0", "25", "50", "75", "100 %"],
        "gridcolor": look.grid,
        "zeroline": False,
        "fixedrange": True,
    }
