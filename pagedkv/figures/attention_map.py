"""One heatmap of a lesson's attention: the kernel's, the dense reference's, or the difference.

Three figures rather than one with three parts: a page lets them stand side by side or wrap below
each other, as its width allows. Each is drawn for about 390 pixels and may be wider. The scale of
the weights is 0 to 1 in every lesson; the difference has its own, symmetric one.
"""

from html import escape
from typing import Any

import plotly.graph_objects as go

from pagedkv.figures.attention_axes import axes
from pagedkv.figures.attention_blocks import block_names, brackets, edges
from pagedkv.figures.attention_cells import (
    colours,
    difference_unit,
    hatching,
    heatmap,
    shows_numbers,
)
from pagedkv.figures.attention_data import AttentionMap, Part, attention_map
from pagedkv.figures.geometry import masked_outline, matrix_height
from pagedkv.figures.theme import Theme, base_figure, request_colour, theme, title
from pagedkv.figures.words import WORDS, kernel_words, say
from pagedkv.trace.frame import Trace
from pagedkv.trace.participants import participants
from pagedkv.trace.written import small

MARGIN = {"l": 64, "r": 14, "t": 108, "b": 150}


def attention_figure(
    trace: Trace, request: str, layer: int, head: int, part: Part, *, dark: bool = False
) -> go.Figure:
    """Draw one part of the attention of ``request`` over the lesson, queries down, keys across.

    Raises ``ValueError`` that names a wrong choice; see ``attention_choices``.
    """
    attention = attention_map(trace, request, layer, head)
    look = theme(dark)
    colour = request_colour(participants(trace.frames), request)
    figure = base_figure(look, _height(attention), MARGIN)
    figure.add_traces([heatmap(attention, part), hatching(attention, look)])
    figure.add_traces(edges(attention, look))
    figure.update_layout(
        title=_title(attention, part, trace.runtime.backend, look),
        coloraxis=colours(attention, part, look),
        **axes(attention, part, look),
        shapes=brackets(attention, colour, look),
        annotations=[*block_names(attention), *_notes(attention, look)],
        showlegend=False,
    )
    return figure


def _height(attention: AttentionMap) -> int:
    return matrix_height(len(attention.queries)) + MARGIN["t"] + MARGIN["b"]


def _title(attention: AttentionMap, part: Part, backend: str, look: Theme) -> dict[str, Any]:
    if part == "difference":
        largest = attention.largest_difference
        return title(look, say("difference", largest=small(largest)), _difference_of(attention))
    chosen = {"request": attention.request, "layer": attention.layer, "head": attention.head}
    text = WORDS["dense"] if part == "dense" else kernel_words(backend)
    return title(look, text, say("weights_of", chosen=escape(say("chosen", **chosen))))


def _difference_of(attention: AttentionMap) -> str:
    """Name the unit in which the cells count, where there is something to count."""
    largest = attention.largest_difference
    if not (largest > 0 and shows_numbers(attention)):
        return WORDS["difference_of"]
    return say("difference_counted", unit=f"{difference_unit(largest):.0e}")


def _notes(attention: AttentionMap, look: Theme) -> list[dict[str, Any]]:
    """What the hatching means, and which queries have no row; each only where it is so."""
    first = attention.queries[0].position
    notes = []
    if masked_outline(attention)[0]:
        notes.append(WORDS["masked"])
    if first:
        notes.append(say("no_rows", before=first))
    if not notes:
        return []
    return [
        {
            "text": "<br>".join(notes),
            "align": "left",
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
