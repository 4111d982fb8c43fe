"""The sandbox: the learner's own requests, what the engine will ask, and what came of it."""

import streamlit as st

from pagedkv.sandbox.as_link import to_link
from pagedkv.sandbox.replay import SandboxRun
from pagedkv.sandbox.script import FREE_ORDERS, Script
from pagedkv.sandbox.starts import STARTS
from pagedkv.settings import RANGES
from pages._notice import show_notice
from pages._player import Address, mount_player
from pages._sandbox_actions import show_actions
from pages._sandbox_runs import sandbox_run
from pages._sandbox_share import show_sharing
from pages._sandbox_state import (
    EMPTY,
    LINK,
    PLAYER,
    QUERY_NAMES,
    START,
    arrive,
    branch,
    bring_back,
    change_pool,
    left,
    notice,
    opening,
    redo,
    start_from,
    timeline,
    undo,
)


def show_sandbox() -> None:
    """The pool, the actions with what will be asked, the player, and the ways to share."""
    arrive()
    script = timeline().script
    with st.container(key="sandbox", gap="xxsmall"):
        above, board = st.container(gap="xxsmall"), st.container()
        with board:  # sent first: it is what a learner waits for
            run = sandbox_run(script)
            show_player(script, run)
        with above:
            show_pool()
            show_actions(run.session)
            show_news()
    show_sharing(script, run.python)


def show_pool() -> None:
    """The title, the memory to choose, ready-made beginnings, and the way back."""
    with st.container(key="sandbox-pool", horizontal=True, vertical_alignment="bottom"):
        st.title("Sandbox", anchor=False, width="content")
        for name, label in (("block_size", "Block size"), ("capacity", "Capacity")):
            allowed = RANGES[name]
            key = f"sandbox_{name}"
            st.slider(label, allowed[0], allowed[-1], key=key, on_change=change_pool, width=180)
        key = "sandbox_free_order"
        st.selectbox("Free list", FREE_ORDERS, key=key, on_change=change_pool, width=140)
        st.selectbox(
            "Start from",
            [EMPTY, *(start.title for start in STARTS)],
            index=None,
            placeholder="choose a beginning",
            key=START,
            on_change=start_from,
            width=300,
        )
        now = timeline()
        st.button("Undo", on_click=undo, disabled=not now.num_actions, icon=":material/undo:")
        st.button("Redo", on_click=redo, disabled=not now.undone, icon=":material/redo:")


def show_news() -> None:
    """What is to be said about the last thing asked, and the way back from a new beginning."""
    now = notice()
    if now is not None:
        show_notice(now)
    if left() is not None:
        st.button("Bring back the session before", on_click=bring_back, icon=":material/history:")


def show_player(script: Script, run: SandboxRun) -> None:
    """Every action's frame; the last one is opened whenever there is a new one."""
    query = {} if script == Script() else {LINK: to_link(script)}
    address = Address(QUERY_NAMES, query, home=run.num_frames - 1)
    mount_player(PLAYER, run.player_json, opening(), address, branch)
