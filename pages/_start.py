"""The start page: the course at a glance."""

from itertools import accumulate

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pagedkv.lessons import LESSONS
from pagedkv.terms import TERMS
from pages._view import leave

INTRODUCTION = """
To choose its next token, a model looks back at all earlier ones. It keeps two lists of numbers for
each, a key and a value, so as not to compute them again: the KV cache. Here you watch an engine
give that memory out in blocks, find every position again, share it, and take it back. Nothing on
the screen is made up. A small model fills a real paged cache, Triton kernels write, copy and read
it, and beside every attention result stands the same result from a dense reference that never
touched the cache.
"""

GOOD_TO_KNOW = """
- **One character is one token here**, so that every slot can show what its K and V belong to. Real
  models cut text into longer pieces; nothing else about the cache changes.
- **Step with → and ←**, or with a slide remote; Space plays, P fills the screen for a projector.
- **Change block size, capacity and prompt length** in any lesson: it runs again, and every number
  and sentence follows. The address always leads back to exactly what you see.
- **In the sandbox** you send requests of your own, and see beforehand what the engine will check.
- **Generate** lets several answers grow from one prompt, and counts the blocks that they share.
- **Plan** counts how many requests fit into a real GPU, as vLLM does.
- **Workloads** lets requests arrive by the thousand, and counts how many run in one memory.
- **Inside the kernel**, the last page of the menu, opens the attention kernel; there you may break
  the cache, too.
"""


def show_start(pages: dict[str, StreamlitPage]) -> None:
    """Say what the course is, list its lessons in order, and explain its words."""
    leave()
    st.title("How an LLM engine manages its KV cache", anchor=False)
    st.markdown(INTRODUCTION)
    first = LESSONS[0]
    begin = f"Begin with lesson 1: {first.title}"
    if st.button(begin, icon=":material/play_arrow:"):
        st.switch_page(pages[first.slug])
    show_lessons(pages)
    st.subheader("Good to know", anchor=False)
    st.markdown(GOOD_TO_KNOW)
    with st.expander("The words of the course"):
        st.markdown("\n".join(f"- **{term.name}**: {term.definition}" for term in TERMS))


def show_lessons(pages: dict[str, StreamlitPage]) -> None:
    """One line per lesson: when in a class, which, and what to find out."""
    *starts, minutes = accumulate((lesson.minutes for lesson in LESSONS), initial=0)
    st.subheader(f"{len(LESSONS)} lessons in a class of {minutes} minutes", anchor=False)
    with st.container(key="lessons", gap="xsmall"):
        for number, (lesson, start) in enumerate(zip(LESSONS, starts, strict=True), start=1):
            with st.container(horizontal=True, vertical_alignment="center"):
                link = f"**{number}. {lesson.title}**"
                st.page_link(pages[lesson.slug], label=link, width=220)
                st.markdown(f"{start // 60}:{start % 60:02d} · {lesson.minutes} min", width=110)
                st.markdown(lesson.question, width="stretch")
