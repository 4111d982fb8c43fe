"""The player as a Streamlit component: registered once, moved in the browser, no round trip."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pagedkv.player import player_css, player_js

ADAPTER_JS = Path(__file__).with_name("_adapter.js").read_text(encoding="utf-8")
ADAPTER_CSS = Path(__file__).with_name("_adapter.css").read_text(encoding="utf-8")

_mount = st.components.v2.component(
    "pagedkv_player",
    js=f"{player_js()}\n{ADAPTER_JS}",
    css=f"{player_css()}\n{ADAPTER_CSS}",
)


@dataclass(frozen=True, slots=True)
class Opening:
    """Which frame to open. ``number`` tells two openings apart: only a new one moves the player."""

    number: int
    index: int
    present: bool = False


@dataclass(frozen=True, slots=True)
class Address:
    """What the browser writes into the address: all query ``names`` are the page's own, and those
    of ``query`` are what leads to this trace. The browser adds ``present`` itself, and ``step``
    unless it is ``home``: the frame that the page opens where an address does not say.
    """

    names: Sequence[str]
    query: Mapping[str, str]
    home: int = 0


def mount_player(
    key: str,
    player_json: str,
    opening: Opening,
    address: Address,
    on_branch: Callable[[], None] | None = None,
) -> None:
    """Draw the player. On reruns the board stays mounted and keeps its frame.

    With ``on_branch`` a button offers to go on from an earlier frame; when it is pressed, the index
    of that frame is ``branch`` of what the session's state has under ``key``.
    """
    callbacks = {} if on_branch is None else {"on_branch_change": on_branch}
    _mount(
        key=key,
        data={
            "lesson": player_json,
            "arrival": {
                "number": opening.number,
                "index": opening.index,
                "present": opening.present,
            },
            "address": {
                "names": list(address.names),
                "settings": dict(address.query),
                "home": address.home,
            },
            "branch": on_branch is not None,
        },
        **callbacks,
    )
