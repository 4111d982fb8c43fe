"""The lesson player: a view model computed in Python, drawn by plain JavaScript.

``player_data`` is what the browser gets, as ``player_json``; ``player_js`` and ``player_css`` are
the two texts that draw it. Nothing here knows Streamlit: a page mounts the same three as an
exported file does.

``player.js`` is where the screen starts, ``screen/`` has a module for each part of it, ``styles/``
the look of each; ``player.css`` alone says in which order.
"""

from functools import cache
from pathlib import Path

from pagedkv.player.bundle import join_modules, join_styles
from pagedkv.player.view import player_data, player_json

__all__ = ["player_css", "player_data", "player_js", "player_json"]

_HERE = Path(__file__).parent


@cache
def player_js() -> str:
    """Return ``player.js`` with all that it imports: one ES module that exports ``mountPlayer``."""
    return join_modules(_HERE / "player.js")


@cache
def player_css() -> str:
    """Return ``player.css`` with all that it imports; its rules are below ``.pagedkv-player``."""
    return join_styles(_HERE / "player.css")
