"""The page that opens the attention kernel: one program line by line, and four experiments."""

import streamlit as st

import kernels
from pagedkv.experiments import Scene, build_scene
from pagedkv.kernel_walk import (
    RecordedLaunch,
    Walk,
    introduction,
    kernel_text,
    record_launch,
    source_html,
    state_html,
    walk,
    where,
)
from pagedkv.trace.written import small
from pages._experiments import show_experiments
from pages._model import model
from pages._view import leave

LINE = "kernel_line"  # where the learner stands, in the session
TILE_AT_HAND = "kernel_tile"


def show_kernel() -> None:
    """Draw the page: block size, the walk, the experiments."""
    leave()
    with st.container(horizontal=True, vertical_alignment="center", gap="large"):
        st.title("Inside the kernel", anchor=False, width="content")
        block_size = st.slider("Block size", 1, 32, 4, key="kernel_block_size", width=260)
    if kernels.recordable_tiles():
        show_walk(block_size)
    else:
        st.markdown(introduction(kernels.runtime(), None))
        st.code(kernel_text(), language="python", height=400)
    st.subheader("Four experiments", anchor=False)
    show_experiments(scene_of(block_size))


@st.cache_resource(show_spinner="Running three requests …", max_entries=32)
def scene_of(block_size: int) -> Scene:
    """The scene at a block size, made once for the whole class; nobody changes it."""
    return build_scene(block_size, model=model())


@st.cache_resource(show_spinner=False, max_entries=64)
def launch_of(block_size: int, tile: int) -> RecordedLaunch:
    """The recorded launch, made once for the whole class."""
    return record_launch(scene_of(block_size), tile)


@st.fragment
def show_walk(block_size: int) -> None:
    """Choose request, head and tile; step through the lines."""
    text = st.empty()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sizes = kernels.recordable_tiles()
        size = st.selectbox(
            "Positions per tile", sizes, min(1, len(sizes) - 1), width=150, key="kernel_tile_size"
        )
        launch = launch_of(block_size, size)
        request = st.selectbox("Request", launch.requests, width=120, key="kernel_request")
        row = launch.requests.index(request)
        heads = range(launch.steps.scores.shape[1])
        head = st.selectbox("Query head", heads, width=120, key="kernel_head")
        walked = walk(launch.steps, row, head)
        at = show_place(walked)
    text.markdown(introduction(kernels.runtime(), size))
    with st.container(key="walk", horizontal=True):
        st.html(source_html(walked.source, walked.moments[at]), width=680)
        with st.container(width="stretch"):
            st.markdown(where(walked, at))
            st.html(state_html(walked.moments[at], launch.texts[row]))
            if walked.moments[at].out is not None:
                error = small(launch.difference_to_dense(row, head))
                st.markdown(f"Largest difference of the output to the dense reference: **{error}**")


def show_place(walked: Walk) -> int:
    """Let the learner go to a line or a tile; return the place in the walk."""
    last = len(walked.moments) - 1
    at = min(st.session_state.get(LINE, 0), last)
    tile = walked.moments[at].tile
    st.session_state[LINE] = at
    st.session_state[TILE_AT_HAND] = None if tile is None else tile + 1
    st.selectbox(
        "Tile",
        range(1, walked.num_tiles + 1),
        index=None,
        placeholder="none",
        width=110,
        key=TILE_AT_HAND,
        on_change=_go_to_tile,
        args=(walked,),
    )
    st.button("Back", on_click=_go, args=(at - 1,), disabled=at == 0, shortcut="Left")
    st.button("Next line", on_click=_go, args=(at + 1,), disabled=at == last, shortcut="Right")
    st.slider("Line", 0, last, key=LINE, width=240)
    return at


def _go(at: int) -> None:
    st.session_state[LINE] = at


def _go_to_tile(walked: Walk) -> None:
    tile = st.session_state[TILE_AT_HAND]
    _go(0 if tile is None else walked.begin_of(tile - 1))
