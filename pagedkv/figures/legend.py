"""A legend that explains and cannot be clicked: what it names always stays in the figure."""

from typing import Any

from pagedkv.figures.theme import Theme


def legend_at_the_foot(look: Theme) -> dict[str, Any]:
    """Plotly's legend in a line at the foot of the whole figure, in the order of its parts."""
    return {
        "orientation": "h",
        "x": 0,
        "xref": "container",
        "y": 0,
        "yref": "container",
        "yanchor": "bottom",
        "font": {"color": look.ink},
        "itemclick": False,
        "itemdoubleclick": False,
        "traceorder": "normal",
    }
