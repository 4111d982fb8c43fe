"""One heatmap of a lesson's attention: the kernel's weights, the dense reference's, or how far
they are apart.

Three figures rather than one with three parts: a page lets them stand side by side or wrap below
each other, as its width allows. Each is drawn for about 390 pixels and may be wider. The scale of
the weights is 0 to 1 in every lesson; the difference has its own, symmetric one.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pagedkv.figures.attention_data import AttentionMap, BlockSpan, Part, attention_map
from pagedkv.figures.geometry import Outline, block_edges, every, masked_outline
from pagedkv.figures.participants import participants
from pagedkv.figures.theme import (
    DIFFERENCE_SCALE,
    TEXT_SIZE,
    WEIGHT_SCALE,
    Theme,
    base_figure,
    inks_on,
    request_colour,
    theme,
    title,
)
from pagedkv.figures.words import WORDS, kernel_words, say, small
from pagedkv.trace.characters import visible
from pagedkv.trace.frame import Trace

TEXT_UP_TO = 12  # rows and columns; more cells than that have no room for numbers
WIDTH = 300  # pixels of the matrix at the narrowest that the figure is made for
ROW_HEIGHT = 36
TALLEST = 324  # pixels of the matrix
MARGIN = {"l": 64, "r": 14, "t": 108, "b": 132}


def attention_figure(
    trace: Trace, request: str, layer: int, head: int, part: Part, *, dark: bool = False
) -> go.Figure:
    """Draw one part of the attention of ``request`` over the lesson, queries down, keys across.

    Raises ``ValueError`` that names a wrong choice; see ``attention_choices``.
    """
    attention = attention_map(trace, request, layer, head)
    look = theme(dark)
    figure = base_figure(look, _height(attention), MARGIN)
    figure.add_trace(_heatmap(attention, part))
    figure.add_trace(_hatching(masked_outline(attention), look))
    edges = block_edges(attention.spans, len(attention.queries))
    figure.add_traces([_lines(edges, look.ink, 5), _lines(edges, look.paper, 2)])
    figure.update_layout(
        title=_title(attention, part, trace.runtime.backend, look),
        coloraxis=_colours(attention, part, look),
        xaxis=_key_axis(attention, look),
        yaxis=_query_axis(attention, part, look),
        shapes=_brackets(attention.spans, request_colour(participants(trace), request), look),
        annotations=[*_block_names(attention), *_masked_note(attention, look)],
        showlegend=False,
    )
    return figure


def difference_unit(largest: float) -> float:
    """Return the power of ten of which ``largest`` holds 10 to 99; 1 if there is no difference.

    >>> difference_unit(1.2e-07)
    1e-08
    """
    return 1.0 if largest == 0 else float(f"1e{int(f'{largest:.0e}'.split('e')[1]) - 1}")


# --- cells -------------------------------------------------------------------------------------


def _heatmap(attention: AttentionMap, part: Part) -> go.Heatmap:
    values = attention.values(part)
    sized = max(values.shape) <= TEXT_UP_TO
    gap = 1 if sized else 0
    return go.Heatmap(
        x=np.arange(len(attention.keys)),
        y=np.arange(len(attention.queries)),
        z=values.astype(np.float32),
        coloraxis="coloraxis",
        hoverongaps=False,
        hovertemplate=WORDS["difference_hover" if part == "difference" else "weight_hover"],
        xgap=gap,
        ygap=gap,
        text=cell_texts(attention, part) if sized else None,
        texttemplate="%{text}" if sized else None,
        textfont={"size": TEXT_SIZE},
    )


def cell_texts(attention: AttentionMap, part: Part) -> list[list[str]]:
    """Write each cell in two digits, black or white by its colour; nothing where masked.

    Weights are hundredths without the zero before the point, differences count the unit that the
    subtitle names.
    """
    values = attention.values(part)
    if part == "difference":
        largest = attention.largest_difference
        shown = values / difference_unit(largest)
        places = 0.5 + values / (2 * (largest or 1.0))
    else:
        shown, places = values, values
    scale = DIFFERENCE_SCALE if part == "difference" else WEIGHT_SCALE
    return [
        _row_texts(row, inks_on(scale, np.clip(np.nan_to_num(at), 0, 1)), part)
        for row, at in zip(shown, places, strict=True)
    ]


def _row_texts(row: Sequence[float], inks: Sequence[str], part: Part) -> list[str]:
    write = _whole if part == "difference" else _hundredths
    return [
        "" if np.isnan(value) else f'<span style="color:{ink}">{write(value)}</span>'
        for value, ink in zip(row, inks, strict=True)
    ]


def _hundredths(weight: float) -> str:
    written = f"{weight:.2f}"
    return "1" if written == "1.00" else written.removeprefix("0")


def _whole(count: float) -> str:
    return f"{round(count)}".replace("-", "−")


def _hatching(outline: Outline, look: Theme) -> go.Scatter:
    """Mark what a query must not see, so that nobody takes blank for a weight of 0."""
    x, y = outline
    return go.Scatter(
        x=x,
        y=y,
        mode="none",
        fill="toself",
        fillcolor="rgba(0,0,0,0)",
        fillpattern={
            "shape": "/",
            "fgcolor": look.hatch,
            "bgcolor": look.paper,
            "size": 7,
            "solidity": 0.18,
        },
        hoverinfo="skip",
    )


def _lines(outline: Outline, colour: str, width: int) -> go.Scatter:
    """Draw lines between blocks; a light one on a dark one is seen on every colour of the scale."""
    x, y = outline
    line = {"color": colour, "width": width}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip")


def _colours(attention: AttentionMap, part: Part, look: Theme) -> dict[str, Any]:
    """Scale and colour bar: weights from 0 to 1, the difference as far to one side as the other."""
    bar = {
        "orientation": "h",
        "thickness": 12,
        "x": 0,
        "xanchor": "left",
        "len": 1,
        "outlinewidth": 1,
        "outlinecolor": look.muted,
        "yref": "container",
        "y": 0,
        "yanchor": "bottom",
        "ypad": 8,
    }
    if part != "difference":
        return {"colorscale": WEIGHT_SCALE, "cmin": 0, "cmax": 1, "colorbar": bar}
    limit = attention.largest_difference or 1.0
    ends = {"tickvals": [-limit, 0, limit], "ticktext": [f"−{small(limit)}", "0", small(limit)]}
    reach = limit * 1.001  # a tick on the very end of the scale is left out
    return {
        "colorscale": DIFFERENCE_SCALE,
        "cmin": -reach,
        "cmax": reach,
        "colorbar": bar | ends,
    }


# --- around the cells ----------------------------------------------------------------------------


def _height(attention: AttentionMap) -> int:
    return matrix_height(attention) + MARGIN["t"] + MARGIN["b"]


def matrix_height(attention: AttentionMap) -> int:
    """Return the pixels of the matrix: rows at full height while there is room."""
    return min(ROW_HEIGHT * len(attention.queries), TALLEST)


def _title(attention: AttentionMap, part: Part, backend: str, look: Theme) -> dict[str, Any]:
    largest = attention.largest_difference
    chosen = {"request": attention.request, "layer": attention.layer, "head": attention.head}
    if part == "difference":
        unit = f"{difference_unit(largest):.0e}"
        below = say("chosen_difference", unit=unit) if largest else WORDS["chosen_equal"]
        return title(look, say("difference", largest=small(largest)), below)
    text = WORDS["dense"] if part == "dense" else kernel_words(backend)
    return title(look, text, say("weights_of", chosen=escape(say("chosen", **chosen))))


def _axis(look: Theme, name: str) -> dict[str, Any]:
    return {
        "title": {"text": WORDS[name], "standoff": 8, "font": {"size": TEXT_SIZE}},
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "showline": False,
        "fixedrange": True,
        "tickfont": {"color": look.ink},
    }


def _key_axis(attention: AttentionMap, look: Theme) -> dict[str, Any]:
    keys = attention.keys
    labelled = every(len(keys), WIDTH, 20)
    return _axis(look, "key_axis") | {
        "range": [-0.5, len(keys) - 0.5],
        "tickvals": list(labelled),
        "ticktext": [f"{_character(keys[i].token)}<br>{keys[i].position}" for i in labelled],
        "labelalias": {
            str(i): say(
                "key_hover",
                position=key.position,
                token=_character(key.token),
                logical_block=key.logical_block,
                block_id=key.block_id,
            )
            for i, key in enumerate(keys)
        },
    }


def _query_axis(attention: AttentionMap, part: Part, look: Theme) -> dict[str, Any]:
    queries = attention.queries
    labelled = every(len(queries), matrix_height(attention), 19)
    sums = attention.row_sums("kernel" if part == "difference" else part)
    return _axis(look, "query_axis") | {
        "range": [len(queries) - 0.5, -0.5],
        "tickvals": list(labelled),
        "ticktext": [
            say("query_label", position=queries[i].position, token=_character(queries[i].token))
            for i in labelled
        ],
        "labelalias": {
            str(i): say(
                "query_hover",
                position=query.position,
                token=_character(query.token),
                frame=query.frame + 1,
                sum=sums[i],
            )
            for i, query in enumerate(queries)
        },
    }


def _character(token: str) -> str:
    """Write a character so that it is seen, and never taken for markup."""
    return escape(visible(token), quote=False)


def _brackets(spans: Sequence[BlockSpan], colour: str, look: Theme) -> list[dict[str, Any]]:
    """A bar above the columns of each block, in the request's colour with a dark edge."""
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
        for span in spans
    ]


def _block_names(attention: AttentionMap) -> list[dict[str, Any]]:
    """L and P above the brackets, as many as have room."""
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


def _masked_note(attention: AttentionMap, look: Theme) -> list[dict[str, Any]]:
    """What the hatching means, only where there is some."""
    if not masked_outline(attention)[0]:
        return []
    return [
        {
            "text": WORDS["masked"],
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": 0,
            "yref": "paper",
            "yanchor": "top",
            "yshift": -60,
            "showarrow": False,
            "font": {"color": look.muted},
        }
    ]
