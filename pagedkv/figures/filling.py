"""How an area is filled: a colour and a pattern, so that areas are told apart in grey as well."""

from typing import Any

from pagedkv.figures.theme import Theme


def filled(colour: str, shape: str, look: Theme) -> dict[str, Any]:
    """Plotly's marker of a bar; ``shape`` is one of its pattern shapes, "" for none."""
    sparse = {"size": 10, "solidity": 0.08} if shape == "." else {"size": 8, "solidity": 0.12}
    return {
        "color": colour,
        "line": {"color": look.ink, "width": 1},
        "pattern": {"shape": shape, "fgcolor": look.hatch, "bgcolor": colour, **sparse},
    }
