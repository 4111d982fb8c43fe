"""The cells of an attention map: colours, numbers in them, hatching where nothing may be seen."""

from collections.abc import Sequence
from math import floor, log10
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pagedkv.figures.attention_data import AttentionMap, Part
from pagedkv.figures.geometry import masked_outline
from pagedkv.figures.theme import (
    CLEAR,
    DIFFERENCE_SCALE,
    TEXT_SIZE,
    WEIGHT_SCALE,
    Theme,
    inks_on,
)
from pagedkv.figures.words import WORDS
from pagedkv.trace.errors import DENSE_TOLERANCE
from pagedkv.trace.written import small

TEXT_UP_TO = 12  # rows and columns; more cells than that have no room for numbers


def heatmap(attention: AttentionMap, part: Part) -> go.Heatmap:
    """Colour each cell by its value; a masked one stays blank."""
    values = attention.values(part)
    numbered = shows_numbers(attention)
    gap = 1 if numbered else 0
    return go.Heatmap(
        x=np.arange(len(attention.keys)),
        y=np.arange(len(attention.queries)),
        z=values.astype(np.float32),
        coloraxis="coloraxis",
        hoverongaps=False,
        hovertemplate=WORDS["difference_hover" if part == "difference" else "weight_hover"],
        xgap=gap,
        ygap=gap,
        text=cell_texts(attention, part) if numbered else None,
        texttemplate="%{text}" if numbered else None,
        textfont={"size": TEXT_SIZE},
    )


def shows_numbers(attention: AttentionMap) -> bool:
    """Return whether cells are large enough for their numbers."""
    return max(len(attention.queries), len(attention.keys)) <= TEXT_UP_TO


def cell_texts(attention: AttentionMap, part: Part) -> list[list[str]]:
    """Write each cell in two digits, black or white by its colour; nothing where masked.

    Weights are hundredths without the zero before the point, differences count the unit that the
    subtitle names.
    """
    values = attention.values(part)
    if part == "difference":
        shown = values / difference_unit(attention.largest_difference)
        places = 0.5 + values / (2 * reach(attention))
    else:
        shown, places = values, values
    scale = DIFFERENCE_SCALE if part == "difference" else WEIGHT_SCALE
    return [
        _row_texts(row[:length], inks_on(scale, np.clip(np.nan_to_num(at[:length]), 0, 1)), part)
        + [""] * (len(row) - length)
        for row, at, length in zip(shown, places, attention.seen.sum(axis=1), strict=True)
    ]


def _row_texts(row: Sequence[float], inks: Sequence[str], part: Part) -> list[str]:
    write = _whole if part == "difference" else _hundredths
    return [
        f'<span style="color:{ink}">{write(value)}</span>'
        for value, ink in zip(row, inks, strict=True)
    ]


def _hundredths(weight: float) -> str:
    written = f"{weight:.2f}"
    return "1" if written == "1.00" else written.removeprefix("0")


def _whole(count: float) -> str:
    return f"{count:z.0f}".replace("-", "−")


def difference_unit(largest: float) -> float:
    """Return the power of ten of which ``largest`` holds 10 to 99; 1 if there is none.

    >>> difference_unit(1.2e-07)
    1e-08
    """
    return float(f"1e{floor(log10(largest)) - 1}") if largest > 0 else 1.0


def reach(attention: AttentionMap) -> float:
    """Return how far the scale of the differences goes to either side.

    At least as far as a difference may be large, so that rounding stays pale.
    """
    largest = attention.largest_difference
    return largest if largest > DENSE_TOLERANCE else DENSE_TOLERANCE  # the latter for NaN too


def hatching(attention: AttentionMap, look: Theme) -> go.Scatter:
    """Mark what a query must not see, so that nobody takes blank for a weight of 0."""
    x, y = masked_outline(attention)
    return go.Scatter(
        x=x,
        y=y,
        mode="none",
        fill="toself",
        fillcolor=CLEAR,
        fillpattern={
            "shape": "/",
            "fgcolor": look.hatch,
            "bgcolor": CLEAR,
            "size": 7,
            "solidity": 0.18,
        },
        hoverinfo="skip",
        xaxis="x2",
        yaxis="y2",
    )


def colours(attention: AttentionMap, part: Part, look: Theme) -> dict[str, Any]:
    """Scale and colour bar: weights from 0 to 1, the difference as far to one side as the other."""
    bar = {
        "orientation": "h",
        "thickness": 12,
        "x": 0.5,
        "len": 0.86,  # the numbers at its ends need room
        "yref": "container",
        "y": 0,
        "yanchor": "bottom",
        "ypad": 8,
        "outlinewidth": 1,
        "outlinecolor": look.muted,
    }
    if part != "difference":
        return {"colorscale": WEIGHT_SCALE, "cmin": 0, "cmax": 1, "colorbar": bar}
    limit = reach(attention)
    bar |= {"tickvals": [-limit, 0, limit], "ticktext": [f"−{small(limit)}", "0", small(limit)]}
    return {"colorscale": DIFFERENCE_SCALE, "cmin": -limit, "cmax": limit, "colorbar": bar}
