"""The page that generates: several answers at once, the blocks that they hold, and the proof.

A run belongs to the session until it ends or is stopped; what is kept of it lies on a shelf that
all sessions share. A click on Stop, or on anything else, ends this script between two executions:
the run stays in the session, and the next script goes on with it or puts it on the shelf.
"""

from time import monotonic

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import kernels
from pagedkv.figures import blocks_alt, blocks_figure
from pagedkv.generate import ChoiceError, Choices, Generation, Shelf, keep
from pagedkv.generate.sentences import checking_words, held_words, progress_words
from pages._figures import is_dark
from pages._generate_form import asked_by_link, refuse, show_form
from pages._generate_result import MOMENT, answer_place, count_opening, show_kept, show_text
from pages._model import model_of
from pages._view import leave

RUN = "generate_run"  # a Generation on its way, in the session
STOP = "generate_stop"  # whether the visitor has had enough of it
NUMBER = "generate_number"  # where the one before lies on the shelf
WANTED = "generate_wanted"  # the frame that a link wants open, until there is one
ARRIVED = "generate_arrived"  # whether the address has been read
NOTICES = "generate_notices"  # what of it could not be honoured

SHELF_BYTES = 64_000_000  # some twenty runs at the defaults
SECONDS_BETWEEN_FIGURES = 2.0

INTRODUCTION = """
The answers are decoded in one batch on the paged cache. They share the prompt's blocks, and whoever
must write into a shared one copies it first.
"""
GONE = "This run was given up for newer ones. The same choices bring it back."


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
    place = st.empty()
    run: Generation | None = st.session_state.get(RUN)
    if run is not None:
        with place.container(key="generate_running"):
            watch(run)
        place.empty()
    number: int | None = st.session_state.get(NUMBER)
    if number is not None:
        kept = shelf().get(number)
        if kept is None:
            st.info(GONE)
        else:
            show_kept(kept, number)


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """Where this server keeps what was generated, for all sessions."""
    return Shelf(SHELF_BYTES)


# Any access to the session may end this script, if the browser has asked for another run of it. So
# what matters is written first, and what is written twice does no harm.


def begin_as_linked() -> None:
    """Begin what the address asks for, once: when a session first comes here by a link."""
    if st.session_state.get(ARRIVED):
        return
    asked_for = asked_by_link()
    if asked_for is not None:
        begin(asked_for.choices, asked_for.index)
        st.session_state[NOTICES] = asked_for.notices
    st.session_state[ARRIVED] = True


def show_notices() -> None:
    """What of the link could not be honoured, until something else is asked for."""
    for notice in st.session_state.get(NOTICES, ()):
        st.warning(notice, icon=":material/link_off:")


def begin(choices: Choices, wanted: int | None = None) -> None:
    """Put a new run into the session, in the place of the one before; open frame ``wanted`` of it.

    Choices that the model cannot honour are refused, and the run before stays.
    """
    try:
        run = Generation(choices, model_of(choices.model))
    except ChoiceError as error:
        refuse(error)
        return
    st.session_state[RUN] = run
    st.session_state[WANTED] = wanted
    let_go(STOP, MOMENT, NOTICES)
    number = st.session_state.get(NUMBER)
    if number is not None:
        shelf().remove(number)
        let_go(NUMBER)


def let_go(*keys: str) -> None:
    """Take these out of the session, if they are there."""
    for key in keys:
        st.session_state.pop(key, None)


# A run on its way


def watch(run: Generation) -> None:
    """Go on with a run to its end, and show it as it comes; then put it on the shelf."""
    with st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, progress_words(run, kernels.runtime()))
        st.button("Stop here", icon=":material/stop:", on_click=_stop)
    left, right = st.columns(2)
    with left:
        places = [answer_place(name) for name in run.choices.names]
    with right:
        held, figure = st.empty(), st.empty()
    last_drawn = monotonic()
    while not (run.is_done or st.session_state.get(STOP)):
        advance(run)
        for text, place in zip(run.texts(), places, strict=True):
            show_text(place, text)
        share = len(run.moments) / run.choices.length
        bar.progress(share, progress_words(run, kernels.runtime()))
        held.markdown(held_words(run.moments[-1]))
        if monotonic() - last_drawn > SECONDS_BETWEEN_FIGURES:
            draw(figure, run)
            last_drawn = monotonic()
    put_on_shelf(run, bar)


def draw(place: DeltaGenerator, run: Generation) -> None:
    """The figure so far, as a picture: there is nothing to click yet."""
    config = {"displayModeBar": False, "staticPlot": True}
    figure = blocks_figure(run.usage, dark=is_dark())
    place.plotly_chart(figure, theme=None, config=config, alt=blocks_alt(run.usage))


def advance(run: Generation) -> None:
    """One execution; a run that broke is not gone on with."""
    try:
        run.advance()
    except Exception:
        let_go(RUN, STOP, WANTED)
        raise


def _stop() -> None:
    st.session_state[STOP] = True


def put_on_shelf(run: Generation, bar: DeltaGenerator) -> None:
    """Prove and keep what there is of a run, and let go of everything else."""
    if run.moments:
        total = run.choices.num_answers
        kept = keep(run, lambda done: _show_checked(bar, done, total))
        st.session_state[NUMBER] = shelf().put(kept)
        wanted: int | None = st.session_state.get(WANTED)
        if wanted is not None:
            st.session_state[MOMENT] = min(wanted + 1, kept.num_frames)
            count_opening()
    let_go(RUN, STOP, WANTED)


def _show_checked(bar: DeltaGenerator, done: int, total: int) -> None:
    bar.progress(done / total, checking_words(done, total))
