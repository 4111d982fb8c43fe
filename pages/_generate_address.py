"""The address of a run of which no moment is open: its choices, written by the browser.

While a moment is open the player writes the address, with the moment in it.
"""

from pathlib import Path

import streamlit as st

from pagedkv.generate import Choices
from pagedkv.generate.as_query import FIRST, NAMES, PRESENT, STEP, to_query

HERE = Path(__file__).parent
QUERY_NAMES = (*NAMES, FIRST, STEP, PRESENT)  # the page's own

_mount = st.components.v2.component(
    "pagedkv_generate_address",
    js=HERE.joinpath("_generate_address.js").read_text(encoding="utf-8"),
    css=HERE.joinpath("_adapter.css").read_text(encoding="utf-8"),
)


def write_address(choices: Choices, where: str) -> None:
    """Let the address be the link that brings this run back, and show it.

    ``where`` tells two places of the page apart.
    """
    data = {"names": list(QUERY_NAMES), "query": to_query(choices)}
    _mount(key=f"generate-address-{where}", data=data)
