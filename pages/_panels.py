"""Pictures of the whole lesson, below the player, drawn only when a learner asks for one.

A fragment of its own: choosing a picture does not touch the player, and the pictures do not change
while the learner steps.
"""

import streamlit as st

from pagedkv.figures import (
    PARTS,
    attention_alt,
    attention_choices,
    attention_figure,
    attention_table,
    memory_alt,
    memory_figure,
    memory_table,
)
from pagedkv.lessons.base import Lesson
from pagedkv.settings import Settings
from pagedkv.trace.first_look import first_look
from pagedkv.trace.frame import Trace
from pages._figures import is_dark, show_figure, show_numbers
from pages._runs import run_store

MAP_WIDTH = 390  # pixels: three stand side by side on a projector, and one fits a phone


@st.fragment
def show_panels(lesson: Lesson, settings: Settings) -> None:
    """Let the learner choose a picture of the whole lesson, and draw it."""
    st.subheader("The whole lesson at once", anchor=False)
    panels = {"Memory, frame by frame": show_memory, "Attention maps": show_attention}
    panel = st.segmented_control("Picture", panels, key="panel", label_visibility="collapsed")
    if panel is not None:
        panels[panel](run_store().get(lesson, settings).trace())


def show_memory(trace: Trace) -> None:
    """How much is allocated, stored and free in every frame."""
    show_figure(memory_figure(trace, dark=is_dark()), memory_alt(trace), "memory")
    show_numbers(memory_table(trace))


def show_attention(trace: Trace) -> None:
    """Every query's weights over the lesson, from kernel and dense reference, and how they differ.

    For one request, layer and head, at first those of which the player's strip shows most.
    """
    choices = attention_choices(trace)
    if not choices.requests:
        st.markdown("No query attends in this lesson at these settings.")
        return
    layer, head = first_look(trace)
    with st.container(key="attention", horizontal=True, vertical_alignment="bottom"):
        request = st.selectbox("Request", choices.requests, width=120)
        layer = st.selectbox("Layer", choices.layers, index=choices.layers.index(layer), width=120)
        head = st.selectbox("Head", choices.heads, index=choices.heads.index(head), width=120)
    with st.container(key="maps", horizontal=True, gap="small"):
        for part in PARTS:
            with st.container(width=MAP_WIDTH):
                figure = attention_figure(trace, request, layer, head, part, dark=is_dark())
                alt = attention_alt(trace, request, layer, head, part)
                show_figure(figure, alt, f"map-{part}")
    show_numbers(attention_table(trace, request, layer, head))
