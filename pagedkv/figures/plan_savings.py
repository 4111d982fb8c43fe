"""Bytes of a token as MHA would keep it, and as the model does: a bar each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import plotly.graph_objects as go

from pagedkv.figures.axes import axis_name, value_axis
from pagedkv.figures.filling import filled, haloed
from pagedkv.figures.theme import CLEAR, TEXT_SIZE, Theme, base_figure, theme
from pagedkv.trace.written import Phrases

if TYPE_CHECKING:  # a figure reads what was counted and knows nobody who counts
    from pagedkv.planner.savings import Variant

ROW_HEIGHT = 66
MARGIN = {"l": 108, "r": 16, "t": 12, "b": 56}
KIB = 2**10

WORDS = Phrases(
    {
        "planned": "<b>{kind}</b>, as it is",
        "compared": "<b>{kind}</b>",
        "value": " {kib:,.1f} KiB<br> {requests:,.2f} at once",
        "x_axis": "KiB of a token on each GPU",
        "hover": "{bytes:,} B a token<br>{requests:,.2f} requests at once<extra>{kind}</extra>",
        "alt": "A token takes {bytes:,} B on each GPU, as {kind}, and {requests:,.2f} requests fit "
        "at once.",
        "alt_saved": "As MHA, with a K and a V for every query head, it would take {more:,} B, "
        "{times:.1f} times as many, and {requests:,.2f} would fit.",
        "alt_nothing": "That is a K and a V for every query head: nothing is shared.",
    }
)


def plan_savings_figure(variants: Sequence["Variant"], *, dark: bool = False) -> go.Figure:
    """Draw a bar for each way to keep K and V; its bytes and its requests stand behind it.

    ``variants`` must not be empty; the last is the model as it is.
    """
    look = theme(dark)
    height = ROW_HEIGHT * len(variants) + MARGIN["t"] + MARGIN["b"]
    figure = base_figure(look, height, MARGIN)
    longest = max(variant.bytes_per_token for variant in variants) / KIB
    for place, variant in enumerate(variants):
        figure.add_trace(_bar(place, variant, longest, look))
    figure.update_xaxes(
        value_axis(look),
        title=axis_name(WORDS.say("x_axis")),
        range=[0, longest * 1.02],
        nticks=5,
    )
    figure.update_yaxes(
        tickvals=list(range(len(variants))),
        ticktext=[_row(variant) for variant in variants],
        range=[len(variants) - 0.5, -0.5],
        ticks="outside",
        ticklen=6,
        tickcolor=CLEAR,
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    figure.update_layout(bargap=0.3, barmode="overlay", showlegend=False)
    return figure


def plan_savings_alt(variants: Sequence["Variant"]) -> str:
    """Say what a token takes, and what it would take as MHA."""
    planned = variants[-1]
    said = WORDS.say(
        "alt",
        bytes=planned.bytes_per_token,
        kind=planned.kind,
        requests=planned.requests_at_once,
    )
    if len(variants) == 1:
        return f"{said} {WORDS.say('alt_nothing')}"
    as_mha = variants[0]
    saved = WORDS.say(
        "alt_saved",
        more=as_mha.bytes_per_token,
        times=as_mha.bytes_per_token / planned.bytes_per_token,
        requests=as_mha.requests_at_once,
    )
    return f"{said} {saved}"


def plan_savings_table(variants: Sequence["Variant"]) -> pd.DataFrame:
    """List the ways with their bytes and requests."""
    return pd.DataFrame(
        {
            "kind": variant.kind,
            "as it is": variant.is_planned,
            "bytes a token on each GPU": variant.bytes_per_token,
            "requests at once": variant.requests_at_once,
        }
        for variant in variants
    )


def _row(variant: "Variant") -> str:
    return WORDS.say("planned" if variant.is_planned else "compared", kind=variant.kind)


def _bar(place: int, variant: "Variant", longest: float, look: Theme) -> go.Bar:
    kib = variant.bytes_per_token / KIB
    is_inside = kib > longest / 2
    colour = look.stored if variant.is_planned else look.empty
    ink = look.paper if variant.is_planned else look.ink
    shape = "" if variant.is_planned else "/"
    return go.Bar(
        name=variant.kind,
        orientation="h",
        x=[kib],
        y=[place],
        marker=filled(colour, shape, look),
        text=[WORDS.say("value", kib=kib, requests=variant.requests_at_once)],
        textposition="inside" if is_inside else "outside",
        textangle=0,
        insidetextanchor="start",
        insidetextfont=haloed(ink, colour) | {"size": TEXT_SIZE},
        outsidetextfont={"color": look.ink, "size": TEXT_SIZE},
        constraintext="none",
        hovertemplate=WORDS.say(
            "hover",
            bytes=variant.bytes_per_token,
            requests=variant.requests_at_once,
            kind=variant.kind,
        ),
    )
