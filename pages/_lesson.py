"""The page of a lesson, from top to bottom."""

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pagedkv.lessons import LESSONS
from pagedkv.lessons.base import Lesson
from pagedkv.settings import Settings
from pagedkv.terms import UnknownTermError, find_term
from pages._panels import show_panels
from pages._permalink import QUERY_NAMES, nearest_step, query_of
from pages._player import Address, Opening, mount_player
from pages._runs import LessonRun, lesson_run
from pages._settings import show_settings
from pages._view import Arrival, arrive


def show_lesson(lesson: Lesson, pages: dict[str, StreamlitPage]) -> None:
    """Draw the lesson at the settings that the learner has chosen or arrived with."""
    arrival = arrive(lesson.slug)
    with st.container(key="lesson", gap="xxsmall"):
        show_heading(lesson)
        settings = show_settings(lesson)
        run = lesson_run(lesson, settings)
        show_notices(arrival.notices(settings, run.num_frames))
        show_player(lesson, settings, run, arrival)
    show_panels(lesson, settings)
    show_words(lesson)
    show_neighbours(lesson, pages)


def show_heading(lesson: Lesson) -> None:
    """The title, explained if it is a term of the course, and beside it what to watch for."""
    try:
        explanation = find_term(lesson.title).definition
    except UnknownTermError:
        explanation = None
    with st.container(key="heading", horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.title(lesson.title, anchor=False, width="content", help=explanation)
        st.markdown(lesson.question, width="stretch")


def show_notices(notices: tuple[str, ...]) -> None:
    """What of the address could not be honoured, and what is shown instead."""
    for notice in notices:
        st.warning(notice, icon=":material/link_off:")


def show_player(lesson: Lesson, settings: Settings, run: LessonRun, arrival: Arrival) -> None:
    """The player, opened where the address says."""
    step, _ = nearest_step(arrival.asked_for.step, run.num_frames)
    # A presentation would lie over what the page has to say about its address.
    is_plain = not arrival.notices(settings, run.num_frames)
    mount_player(
        f"player-{lesson.slug}",
        run.player_json,
        Opening(arrival.number, step, arrival.asked_for.present and is_plain),
        Address(QUERY_NAMES, query_of(settings)),
    )


def show_words(lesson: Lesson) -> None:
    """What to remember, and how engines in use do it."""
    st.subheader("To remember", anchor=False)
    st.markdown(lesson.takeaway)
    if lesson.in_engines_today:
        st.subheader("In engines today", anchor=False)
    for note in lesson.in_engines_today:
        st.markdown(f"- {note.text} *({note.as_of})*")


def show_neighbours(lesson: Lesson, pages: dict[str, StreamlitPage]) -> None:
    """The way to the lesson before and the lesson after."""
    place = LESSONS.index(lesson)
    with st.container(key="neighbours", horizontal=True, horizontal_alignment="distribute"):
        if place > 0:
            before = LESSONS[place - 1]
            st.page_link(pages[before.slug], label=before.title, icon=":material/arrow_back:")
        else:
            st.page_link(pages[""], label="Start", icon=":material/arrow_back:")
        if place + 1 < len(LESSONS):
            after = LESSONS[place + 1]
            st.page_link(
                pages[after.slug],
                label=after.title,
                icon=":material/arrow_forward:",
                icon_position="right",
            )
