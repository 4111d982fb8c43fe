"""Block size against what it wastes and how many requests it lets run: two panels, one scale."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pagedkv.figures.axes import axis_name, value_axis
from pagedkv.figures.filling import filled
from pagedkv.figures.theme import TITLE_SIZE, Theme, base_figure, theme
from pagedkv.trace.written import Phrases

if TYPE_CHECKING:  # a figure reads what was counted and knows nobody who counts
    from pagedkv.workloads.figure_data import SizePoint

HEIGHT = 560
MARGIN = {"l": 56, "r": 12, "t": 40, "b": 56}
HEADROOM = 1.18  # of a scale, above its highest value, for the number there

WORDS = Phrases(
    {
        "empty": "Held slots that are empty, %",
        "batch": "Requests in a batch",
        "x_axis": "slots in a block",
        "hover": "blocks of %{{x}}<br>{name}: %{{y:,.1f}}<extra></extra>",
        "alt": "Block sizes from {least} to {most}. Empty slots among those held: "
        "{least_empty:.1f} % with the smallest blocks, {most_empty:.1f} % with the largest. "
        "Requests in a batch: {least_batch:,.1f} and {most_batch:,.1f}.",
    }
)


def sizes_figure(points: Sequence["SizePoint"], *, dark: bool = False) -> go.Figure:
    """Draw waste as bars above the batch as a line with markers; every value is written there."""
    look = theme(dark)
    sizes = [str(point.block_size) for point in points]
    empty, batch = [point.empty for point in points], [point.batch for point in points]
    figure = make_subplots(
        rows=2,
        shared_xaxes=True,
        vertical_spacing=0.14,
        subplot_titles=[f"<b>{WORDS.say(name)}</b>" for name in ("empty", "batch")],
        figure=base_figure(look, HEIGHT, MARGIN),
    )
    figure.add_trace(
        go.Bar(
            x=sizes,
            y=empty,
            text=[f"{value:.1f}" for value in empty],
            textposition="outside",
            textangle=0,
            cliponaxis=False,
            marker=filled(look.empty, "/", look),
            hovertemplate=WORDS.say("hover", name=WORDS.say("empty")),
        ),
        row=1,
        col=1,
    )
    figure.add_trace(
        go.Scatter(
            x=sizes,
            y=batch,
            mode="lines+markers+text",
            text=[f"{value:,.1f}" for value in batch],
            textposition="top center",
            line={"color": look.stored, "width": 2.5},
            marker={"size": 9, "color": look.stored},
            hovertemplate=WORDS.say("hover", name=WORDS.say("batch")),
        ),
        row=2,
        col=1,
    )
    for row, values in ((1, empty), (2, batch)):
        figure.update_yaxes(_share_axis(max(values), look), row=row, col=1)
    figure.update_xaxes(type="category", showticklabels=True, showgrid=False, fixedrange=True)
    figure.update_xaxes(linecolor=look.ink)
    figure.update_xaxes(title=axis_name(WORDS.say("x_axis")), row=2, col=1)
    figure.update_annotations(x=0, xanchor="left", font={"size": TITLE_SIZE, "color": look.ink})
    figure.update_layout(showlegend=False)
    return figure


def sizes_alt(points: Sequence["SizePoint"]) -> str:
    """Say what the smallest and the largest blocks come to."""
    first, last = points[0], points[-1]
    return WORDS.say(
        "alt",
        least=first.block_size,
        most=last.block_size,
        least_empty=first.empty,
        most_empty=last.empty,
        least_batch=first.batch,
        most_batch=last.batch,
    )


def sizes_table(points: Sequence["SizePoint"]) -> pd.DataFrame:
    """List the block sizes."""
    return pd.DataFrame(
        {
            "block size": point.block_size,
            "held slots that are empty, %": round(point.empty, 2),
            "requests in a batch": round(point.batch, 2),
        }
        for point in points
    )


def _share_axis(top: float, look: Theme) -> dict[str, Any]:
    return value_axis(look) | {"range": [0, (top or 1) * HEADROOM], "nticks": 5}
