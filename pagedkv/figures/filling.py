"""How an area is filled, and how figures stand on it.

A pattern beside the colour tells areas apart in grey as well.
"""

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


def haloed(ink: str, ground: str) -> dict[str, Any]:
    """Plotly's font of figures on a pattern, which a halo of the ground's colour keeps away."""
    return {"color": ink, "shadow": ", ".join([f"0 0 3px {ground}"] * 4)}
