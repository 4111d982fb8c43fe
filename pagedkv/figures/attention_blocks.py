"""Which block each column of an attention map lies in: lines, brackets, and names above them."""

from typing import Any

import plotly.graph_objects as go

from pagedkv.figures.attention_data import AttentionMap
from pagedkv.figures.geometry import WIDTH, Outline, block_edges, every
from pagedkv.figures.theme import Theme

NARROW = 24  # pixels; blocks that are narrower than that are parted by a thin line


def edges(attention: AttentionMap, look: Theme) -> list[go.Scatter]:
    """Draw lines between blocks; a light one on a dark one is seen on every colour of the scale."""
    edges = block_edges(attention.spans, len(attention.queries))
    if len(attention.spans) * NARROW > WIDTH:
        return [_lines(edges, look.hatch, 1)]
    return [_lines(edges, look.ink, 5), _lines(edges, look.paper, 2)]


def _lines(outline: Outline, colour: str, width: int) -> go.Scatter:
    x, y = outline
    line = {"color": colour, "width": width}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", xaxis="x2", yaxis="y2")


def brackets(attention: AttentionMap, colour: str, look: Theme) -> list[dict[str, Any]]:
    """Return a bar above the columns of each block, in the request's colour with a dark edge."""
    return [
        {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "x0": span.first - 0.42,
            "x1": span.first + span.count - 0.58,
            "ysizemode": "pixel",
            "yanchor": 1,
            "y0": 4,
            "y1": 11,
            "fillcolor": colour,
            "line": {"color": look.ink, "width": 1},
        }
        for span in attention.spans
    ]


def block_names(attention: AttentionMap) -> list[dict[str, Any]]:
    """Return L and P above the brackets, as many as have room."""
    spans = attention.spans
    widest = max(len(f"P{span.block_id}") for span in spans)
    return [
        {
            "text": f"L{spans[i].logical_block}<br>P{spans[i].block_id}",
            "x": spans[i].first + (spans[i].count - 1) / 2,
            "y": 1,
            "yref": "paper",
            "yanchor": "bottom",
            "yshift": 11,
            "showarrow": False,
        }
        for i in every(len(spans), WIDTH, 6 + 9 * widest)
    ]
