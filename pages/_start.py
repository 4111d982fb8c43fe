"""The start page: the course at a glance."""

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pagedkv.lessons import LESSONS
from pages._view import leave

CLASS_MINUTES = 50


def show_start(pages: dict[str, StreamlitPage]) -> None:
    """Say what the course is, and list its lessons in order."""
    leave()
    st.title("How an LLM engine manages its KV cache", anchor=False)
    st.markdown(
        "Seven short lessons on a real paged KV cache: a small language model fills it, Triton "
        "kernels write, copy and read it, and beside every attention result stands the same "
        "result from a dense reference that never touched the cache. You step through what "
        "happened, forwards and backwards."
    )
    st.page_link(
        pages[LESSONS[0].slug],
        label=f"Begin with lesson 1: {LESSONS[0].title}",
        icon=":material/play_arrow:",
    )
    for number, lesson in enumerate(LESSONS, start=1):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link(pages[lesson.slug], label=f"{number}. {lesson.title}")
            st.markdown(lesson.question)
            st.markdown(f"{lesson.minutes} min")
