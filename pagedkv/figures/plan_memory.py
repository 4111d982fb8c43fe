"""How a GPU's memory splits: one bar of weights, overhead, KV blocks, and what is not used."""

from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go

from pagedkv.figures.filling import filled, haloed
from pagedkv.figures.legend import legend_at_the_foot
from pagedkv.figures.theme import CLEAR, TEXT_SIZE, Theme, base_figure, theme
from pagedkv.trace.written import Phrases

if TYPE_CHECKING:  # a figure reads what was counted and knows nobody who counts
    from pagedkv.planner.split import Split

HEIGHT = 250
MARGIN = {"l": 12, "r": 30, "t": 34, "b": 138}
LEAST_SHARE = 0.11  # of the bar, for a part that has room for its number
GIB = 2**30
LEAST_TOLD = GIB // 200  # bytes: less has no place among GiB of two decimals

WORDS = Phrases(
    {
        "weights": "weights",
        "overhead": "activations and overhead",
        "kv": "KV blocks",
        "remainder": "makes no whole block",
        "left": "left alone",
        "budget": "the engine may take {gib:,.1f}",
        "unit": " GiB",
        "hover": "{name}: {gib:,.3f} GiB<extra></extra>",
        "alt": "{total:,.2f} GiB of one GPU: {parts}.",
        "alt_part": "{name} {gib:,.2f}",
        "alt_too_large": "Weights and overhead are more than the {budget:,.2f} GiB that the engine "
        "may take.",
    }
)


def plan_memory_figure(split: "Split", *, dark: bool = False) -> go.Figure:
    """Draw the parts in a row, each in its own colour and pattern, and a line at the budget."""
    look = theme(dark)
    figure = base_figure(look, HEIGHT, MARGIN)
    parts = _sizes(split)
    most = max(sum(parts.values()), split.total_bytes) / GIB
    for part, size in parts.items():
        if size:
            figure.add_trace(_part(part, size / GIB, most, look))
    if split.budget_bytes < split.total_bytes or split.is_too_large:
        _mark_budget(figure, split.budget_bytes / GIB, most, look)
    figure.update_xaxes(
        ticksuffix=WORDS.say("unit"),
        showticksuffix="last",
        range=[0, most * 1.005],
        nticks=7,
        gridcolor=look.grid,
        zeroline=False,
        fixedrange=True,
    )
    figure.update_yaxes(visible=False, fixedrange=True, range=[-0.5, 0.5])
    figure.update_layout(barmode="stack", bargap=0.1, legend=legend_at_the_foot(look))
    return figure


def plan_memory_alt(split: "Split") -> str:
    """Say how large each part is."""
    parts = [
        WORDS.say("alt_part", name=WORDS.say(part), gib=size / GIB)
        for part, size in _sizes(split).items()
        if size >= LEAST_TOLD
    ]
    said = WORDS.say("alt", total=split.total_bytes / GIB, parts=", ".join(parts))
    if split.is_too_large:
        said += " " + WORDS.say("alt_too_large", budget=split.budget_bytes / GIB)
    return said


def plan_memory_table(split: "Split") -> pd.DataFrame:
    """List the parts in GiB and in bytes."""
    return pd.DataFrame(
        {"part": WORDS.say(part), "GiB": round(size / GIB, 3), "bytes": size}
        for part, size in _sizes(split).items()
    )


def _sizes(split: "Split") -> dict[str, int]:
    """The parts in the order in which they are drawn, in bytes."""
    return {
        "weights": split.weights,
        "overhead": split.overhead,
        "kv": split.kv,
        "remainder": split.remainder,
        "left": split.left,
    }


def _part(part: str, gib: float, most: float, look: Theme) -> go.Bar:
    name = WORDS.say(part)
    return go.Bar(
        name=name,
        orientation="h",
        x=[gib],
        y=[0],
        marker=_filling(part, look),
        text=[f"{gib:,.1f}" if gib >= LEAST_SHARE * most else ""],
        textposition="inside",
        textangle=0,
        insidetextanchor="middle",
        insidetextfont=_number_font(part, look),
        constraintext="none",
        hovertemplate=WORDS.say("hover", name=name, gib=gib),
    )


def _filling(part: str, look: Theme) -> dict[str, Any]:
    """Colour and pattern: KV as stored slots are drawn in the lessons."""
    colour, shape = {
        "weights": (look.empty, "/"),
        "overhead": (look.empty, "x"),
        "kv": (look.stored, ""),
        "remainder": (CLEAR, "-"),
        "left": (CLEAR, "."),
    }[part]
    return filled(colour, shape, look)


def _number_font(part: str, look: Theme) -> dict[str, Any]:
    """Dark on light or light on dark."""
    grounds = {"kv": look.stored, "weights": look.empty, "overhead": look.empty}
    ground = grounds.get(part, look.paper)
    ink = look.paper if part == "kv" else look.ink
    return haloed(ink, ground) | {"size": 18}


def _mark_budget(figure: go.Figure, budget: float, most: float, look: Theme) -> None:
    """A line where the engine's share of the memory ends, and how much that is."""
    figure.add_vline(x=budget, line={"color": look.accent, "width": 3, "dash": "dash"})
    figure.add_annotation(
        text=WORDS.say("budget", gib=budget),
        x=budget,
        y=1,
        yref="paper",
        yanchor="bottom",
        xanchor="right" if budget > most / 2 else "left",
        showarrow=False,
        font={"color": look.ink, "size": TEXT_SIZE},
    )
