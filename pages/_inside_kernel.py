"""The page that opens the attention kernel: one program line by line, and four experiments."""

import streamlit as st

from pagedkv.experiments import Scene, build_scene
from pagedkv.kernel_walk import (
    Moment,
    RecordedLaunch,
    next_tile,
    read_kernel,
    record_launch,
    source_html,
    state_html,
    walk,
)
from pagedkv.trace.written import small
from pages._experiments import show_experiments
from pages._view import leave

INTRODUCTION = """
This is the kernel that attends in every lesson, as it lies in its file. One program of it works for
one request and one KV head. Step through what it did; every number was stored by the kernel itself
while it ran.
"""
TILES = (2, 4, 8, 16)


def show_kernel() -> None:
    """Draw the page: block size, the walk, the experiments."""
    leave()
    st.title("Inside the kernel", anchor=False)
    st.markdown(INTRODUCTION)
    block_size = st.slider("Block size", 1, 32, 4, key="kernel_block_size", width=360)
    scene = scene_of(block_size)
    st.subheader("One program, line by line", anchor=False)
    show_walk(block_size)
    st.subheader("Four experiments", anchor=False)
    show_experiments(scene)


@st.cache_resource(show_spinner="Running three requests …", max_entries=32)
def scene_of(block_size: int) -> Scene:
    """The scene at a block size, made once for the whole class; nobody changes it."""
    return build_scene(block_size)


@st.cache_resource(show_spinner=False, max_entries=64)
def launch_of(block_size: int, tile: int) -> RecordedLaunch:
    """The recorded launch, made once for the whole class."""
    return record_launch(scene_of(block_size), tile)


@st.fragment
def show_walk(block_size: int) -> None:
    """Choose request, head and tile; step through the lines."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tile = st.selectbox("Positions per tile", TILES, index=1, width=150, key="kernel_tile")
        launch = launch_of(block_size, tile)
        request = st.selectbox("Request", launch.requests, width=120, key="kernel_request")
        row = launch.requests.index(request)
        num_heads = launch.steps.scores.shape[1]
        head = st.selectbox("Query head", range(num_heads), width=120, key="kernel_head")
        moments = walk(launch.steps, row, head, len(launch.texts[row]))
        at = _step(moments)
    moment = moments[at]
    with st.container(key="walk", horizontal=True):
        st.html(source_html(read_kernel(launch.steps.constexprs), moment), width=640)
        with st.container(width="stretch"):
            st.markdown(_where(moment, moments))
            st.html(state_html(moment, launch.texts[row]))
            if at == len(moments) - 1:
                error = small(launch.difference_to_dense(row, head))
                st.markdown(f"Largest difference of the output to the dense reference: **{error}**")


def _step(moments: tuple[Moment, ...]) -> int:
    """Where the learner stands: buttons for one line and one tile, and a slider."""
    last = len(moments) - 1
    at = min(st.session_state.setdefault("kernel_line", 0), last)
    st.session_state["kernel_line"] = at
    st.button("Back", on_click=_go, args=(max(at - 1, 0),), disabled=at == 0)
    st.button("Next line", on_click=_go, args=(min(at + 1, last),), disabled=at == last)
    st.button("Next tile", on_click=_go, args=(next_tile(moments, at),), disabled=at == last)
    st.slider("Line", 0, last, key="kernel_line", width=240)
    return at


def _go(at: int) -> None:
    st.session_state["kernel_line"] = at


def _where(moment: Moment, moments: tuple[Moment, ...]) -> str:
    num_tiles = len({other.tile for other in moments} - {None})
    if moment.tile is None:
        return f"Outside the loop, which takes {num_tiles} tiles."
    first, last = moment.positions[0], moment.positions[-1]
    return f"**Tile {moment.tile + 1} of {num_tiles}**: positions {first} to {last}"
