"""The lesson player: a view model computed in Python, drawn by plain JavaScript.

``player_data`` is what the browser gets, ``player_js`` and ``player_css`` are the texts of the two
files that draw it. Nothing here knows Streamlit: a page mounts the same three as an exported file
does.
"""

from functools import cache
from pathlib import Path

from pagedkv.player.view import player_data

__all__ = ["player_css", "player_data", "player_js"]

_HERE = Path(__file__).parent


@cache
def player_js() -> str:
    """Return the text of ``player.js``: an ES module that exports ``mountPlayer``."""
    return (_HERE / "player.js").read_text(encoding="utf-8")


@cache
def player_css() -> str:
    """Return the text of ``player.css``; all its rules are below ``.pagedkv-player``."""
    return (_HERE / "player.css").read_text(encoding="utf-8")
