"""What came of a generation: texts, blocks over time, the proof, and any moment in the player."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import kernels
from pagedkv.figures import blocks_alt, blocks_figure, blocks_table
from pagedkv.generate import Kept, Stretch
from pagedkv.generate.as_query import to_query
from pagedkv.generate.sentences import (
    answer_words,
    ended_words,
    held_words,
    proof_words,
    saving_words,
    stretch_words,
)
from pages._figures import is_dark, show_numbers
from pages._generate_address import QUERY_NAMES, write_address
from pages._player import Address, Opening, mount_player
from pages._whole_number import whole_number

MOMENT = "generate_moment"  # which execution is open in the player, from 1
OPENINGS = "generate_openings"  # how often one was opened
PRESENTED = "generate_presented"  # which of these openings fills the screen
CHART = "generate_chart"

STRETCHES = 16  # that are kept as the player gets them, 1 to 1.5 MB each at the defaults


def show_kept(kept: Kept, key: str) -> None:
    """Texts on the left, blocks on the right; the proof, and a moment in the player below."""
    st.markdown(ended_words(kept, kernels.runtime()))
    left, right = st.columns(2)
    with left, st.container(key="generate_answers"):
        for name, text in zip(kept.choices.names, kept.texts, strict=True):
            show_text(answer_place(name), text)
    with right:
        show_blocks(kept, key)
    st.markdown(proof_words(kept.proof, kept.choices))
    st.subheader("One moment", anchor=False)
    executions = range(1, kept.num_frames + 1)
    chosen = whole_number(
        "Execution: click a point of the figure, or choose one here",
        executions,
        None,
        key=MOMENT,
        on_change=count_opening,
        width=400,
        placeholder="none",
    )
    if chosen is None:
        write_address(kept.choices, "kept")
    elif chosen not in executions:
        st.text(f"There is no execution {chosen:g}; choose a whole number.")
    else:
        show_moment(kept, key, chosen - 1)


def answer_place(name: str) -> DeltaGenerator:
    """The name of an answer, and beside it a place for its text."""
    with st.container(horizontal=True, gap="small"):
        st.markdown(f"**{name}**", width=28)
        return st.empty()


def show_text(place: DeltaGenerator, text: str) -> None:
    """An answer as it stands, line by line."""
    place.text(answer_words(text), width="stretch")


def show_blocks(kept: Kept, key: str) -> None:
    """The figure, in words and in numbers; a click on it chooses a moment."""
    last = kept.usage.moments[-1]
    st.markdown(f"{held_words(last)} {saving_words(last, kept.choices.num_answers)}")
    alt, chart = blocks_alt(kept.usage), f"{CHART}_{key}"
    st.plotly_chart(
        blocks_figure(kept.usage, dark=is_dark()),
        theme=None,
        key=chart,
        alt=alt,
        config={"displayModeBar": False},
        on_select=partial(_choose_clicked, chart),
        selection_mode="points",
    )
    st.markdown(alt)
    show_numbers(blocks_table(kept.usage))


def _choose_clicked(chart: str) -> None:
    """Open the moment that was clicked. Clicking beside all points leaves the one before open."""
    points = st.session_state[chart]["selection"]["points"]
    if points:
        open_moment(int(points[0]["x"]))


def open_moment(number: int, *, present: bool = False) -> None:
    """Open an execution, counted from 1. To be called before its field is drawn, or in a callback.

    With ``present`` the player fills the screen.
    """
    st.session_state[MOMENT] = number
    count_opening()
    st.session_state[PRESENTED] = st.session_state[OPENINGS] if present else None


def count_opening() -> None:
    """Note that a moment was opened, so that the player goes there."""
    st.session_state[OPENINGS] = st.session_state.get(OPENINGS, 0) + 1


def show_moment(kept: Kept, key: str, index: int) -> None:
    """Open frame ``index`` of a run in the player."""
    stretch = stretch_of(kept, key, kept.first_around(index))
    show_ways_on(stretch, kept.num_frames)
    opening = st.session_state.get(OPENINGS, 0)
    present = st.session_state.get(PRESENTED) == opening
    mount_player(
        "player-generate",
        stretch.player_json,
        Opening(opening, index - stretch.first, present),
        Address(QUERY_NAMES, to_query(kept.choices, stretch.first)),
    )


def show_ways_on(stretch: Stretch, total: int) -> None:
    """Which executions the player has, and the ways to those before and behind them."""
    words = stretch_words(stretch.first, stretch.num_frames, total)
    if not words:
        return
    end = stretch.first + stretch.num_frames
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(words, width="content")
        st.button(
            "Earlier",
            icon=":material/arrow_back:",
            on_click=open_moment,
            args=(stretch.first,),  # counted from 1: the last one before the stretch
            disabled=stretch.first == 0,
        )
        st.button(
            "Later",
            icon=":material/arrow_forward:",
            on_click=open_moment,
            args=(end + 1,),
            disabled=end == total,
        )


@st.cache_resource(show_spinner=False, max_entries=STRETCHES)
def stretch_of(_kept: Kept, key: str, first: int) -> Stretch:
    """What the player is sent, made once for a run and a stretch of it."""
    return _kept.stretch(first)
