"""The page that generates: several answers at once, the blocks that they hold, and the proof."""

import streamlit as st

from pagedkv.generate import Generation
from pages._generate_form import asked_by_link, show_form
from pages._generate_result import show_kept
from pages._generate_run import ARRIVED, KEY, NOTICES, RUN, Wanted, begin, shelf, watch
from pages._view import leave

INTRODUCTION = """
The answers are decoded in one batch on the paged cache. They share the prompt's blocks, and whoever
must write into a shared one copies it first.
"""
GONE = "This run was given up for newer ones. The same choices bring it back."
BROKEN = (
    "The answers could not be checked without a cache, so this run is given up. The server's log "
    "says why; the same choices begin it again."
)


def show_generate() -> None:
    """The form; below it a run on its way, or what came of the last one."""
    leave()
    with st.container(key="generate-heading", horizontal=True, vertical_alignment="bottom"):
        st.title("Generate", anchor=False, width="content")
        st.markdown(INTRODUCTION)
    begin_as_linked()
    chosen = show_form()
    if chosen is not None:
        begin(chosen)
    show_notices()
    show_run()
    key: str | None = st.session_state.get(KEY)
    if key is not None:
        kept = shelf().get(key)
        if kept is None:
            st.info(GONE)
        else:
            show_kept(kept, key)


def begin_as_linked() -> None:
    """Begin what the address asks for, once: when a session first comes here by a link."""
    if st.session_state.get(ARRIVED):
        return
    asked_for = asked_by_link()
    if asked_for is not None:
        # A presentation would lie over what there is to say about the link.
        present = asked_for.present and not asked_for.notices
        wanted = None if asked_for.index is None else Wanted(asked_for.index, present)
        begin(asked_for.choices, wanted)
        st.session_state[NOTICES] = asked_for.notices
    st.session_state[ARRIVED] = True


def show_notices() -> None:
    """What of the link could not be honoured, until something else is asked for."""
    for notice in st.session_state.get(NOTICES, ()):
        st.warning(notice, icon=":material/link_off:")


def show_run() -> None:
    """The run on its way, if there is one, until it lies on the shelf."""
    place = st.empty()
    run: Generation | None = st.session_state.get(RUN)
    if run is None:
        return
    with place.container(key="generate_running"):
        is_proved = watch(run)
    place.empty()
    if not is_proved:
        st.error(BROKEN, icon=":material/error:")
