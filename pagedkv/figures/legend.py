"""A legend that explains and cannot be clicked: what it names always stays in the figure."""

from typing import Any

from pagedkv.figures.theme import Theme

AXIS_HEIGHT = 54  # pixels of an axis's numbers and its name below a figure


def legend_at_the_foot(look: Theme) -> dict[str, Any]:
    """Plotly's legend in a line at the foot of the whole figure, in the order of its parts."""
    place = {"xref": "container", "y": 0, "yref": "container", "yanchor": "bottom"}
    return _in_a_line(look) | place


def legend_below_the_axis(
    look: Theme, inner_height: int, axis_height: int = AXIS_HEIGHT
) -> dict[str, Any]:
    """Plotly's legend in a line right below the axis, in the order of its parts.

    ``inner_height`` is what the figure's margins leave of its height, ``axis_height`` what the
    axis takes below that; both are pixels.
    """
    return _in_a_line(look) | {"y": -axis_height / inner_height, "yanchor": "top"}


def _in_a_line(look: Theme) -> dict[str, Any]:
    return {
        "orientation": "h",
        "maxheight": 1,  # of the figure's height: else Plotly gives it half, and a scrollbar
        "x": 0,
        "font": {"color": look.ink},
        "itemclick": False,
        "itemdoubleclick": False,
        "traceorder": "normal",
    }
