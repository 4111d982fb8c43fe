"""Axes that cannot be dragged: what a figure shows is all of it."""

from typing import Any

from pagedkv.figures.theme import TEXT_SIZE, Theme


def axis_name(text: str) -> dict[str, Any]:
    """Plotly's title of an axis."""
    return {"text": text, "standoff": 6, "font": {"size": TEXT_SIZE}}


def value_axis(look: Theme) -> dict[str, Any]:
    """Plotly's axis with a grid and no line of its own."""
    return {"gridcolor": look.grid, "zeroline": False, "fixedrange": True}


def ruled_axis(name: str, look: Theme) -> dict[str, Any]:
    """Plotly's axis with a name, a grid and a line of its own."""
    return value_axis(look) | {"title": axis_name(name), "linecolor": look.ink}
