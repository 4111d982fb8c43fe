"""A run on its way: begun, watched as it comes, checked answer by answer, and put on the shelf.

It belongs to the session until then; what is kept of it lies on a shelf that all sessions share. A
click on Stop, or on anything else, ends this script between two executions or two checks: the run
stays in the session, and the next script goes on with it. Streamlit starts that one at once, so it
waits for its turn until this one has left.
"""

import logging
from dataclasses import dataclass
from time import monotonic

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import kernels
from pagedkv.figures import blocks_alt, blocks_figure
from pagedkv.generate import Check, ChoiceError, Choices, Generation, Kept, Shelf, check_of, keep
from pagedkv.generate.sentences import checking_words, held_words, progress_words
from pages._figures import is_dark
from pages._generate_address import write_address
from pages._generate_form import refuse
from pages._generate_result import MOMENT, answer_place, open_moment, show_text
from pages._model import model_of

# What a session remembers.
RUN = "generate_run"  # a Generation on its way
CHECK = "generate_check"  # what is checked of it already, once it has ended
STOP = "generate_stop"  # whether the visitor has had enough of it
KEY = "generate_key"  # of the one before, on the shelf
WANTED = "generate_wanted"  # what a link wants open, until there is something
ARRIVED = "generate_arrived"  # whether the address has been read
NOTICES = "generate_notices"  # what of it could not be honoured

SHELF_BYTES = 64_000_000  # some twenty runs at the defaults
SECONDS_BETWEEN_FIGURES = 2.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """The frame that a link wants open, by its index, and whether it is to fill the screen."""

    index: int
    present: bool


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """Where this server keeps what was generated, for all sessions."""
    return Shelf(SHELF_BYTES)


# Any access to the session may end this script, if the browser has asked for another run of it. So
# what matters is written first, and what is written twice does no harm.


def begin(choices: Choices, wanted: Wanted | None = None) -> None:
    """Put a new run into the session, in the place of the one before; open ``wanted`` of it.

    Choices that the model cannot honour are refused, and the run before stays.
    """
    try:
        run = Generation(choices, model_of(choices.model))
    except ChoiceError as error:
        refuse(error)
        return
    _let_go(CHECK, STOP)  # first: they are about the run before
    st.session_state[RUN] = run
    st.session_state[WANTED] = wanted
    st.session_state[MOMENT] = None  # set, not let go: only so is the browser's field emptied
    _let_go(NOTICES)
    key = st.session_state.get(KEY)
    if key is not None:
        shelf().remove(key)
        _let_go(KEY)


def watch(run: Generation) -> bool:
    """Go on with a run to its end, and show it as it comes; then put it on the shelf.

    False if it ended without a proof, because that broke.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, progress_words(run, kernels.runtime()))
        st.button("Stop here", icon=":material/stop:", on_click=_stop)
    left, right = st.columns(2)
    with left:
        places = [answer_place(name) for name in run.choices.names]
    with right:
        held, figure = st.empty(), st.empty()
    with run.turn:
        _go_on(run, bar, places, held, figure)
        return _finish(run, bar)


def _go_on(
    run: Generation,
    bar: DeltaGenerator,
    texts: list[DeltaGenerator],
    held: DeltaGenerator,
    figure: DeltaGenerator,
) -> None:
    """Generate until the end or a stop, and show it in these places."""
    _show_texts(run, texts)
    has_address = st.session_state.get(WANTED) is not None  # that of a link is right already
    last_drawn = monotonic()
    while not (run.is_done or st.session_state.get(STOP)):
        _advance(run)
        _show_texts(run, texts)
        share = len(run.moments) / run.choices.length
        bar.progress(share, progress_words(run, kernels.runtime()))
        held.markdown(held_words(run.moments[-1]))
        if not has_address:  # only now, for the texts come first
            write_address(run.choices, "running")
            has_address = True
        if monotonic() - last_drawn > SECONDS_BETWEEN_FIGURES:
            _draw(figure, run)
            last_drawn = monotonic()


def _show_texts(run: Generation, places: list[DeltaGenerator]) -> None:
    if run.moments:
        for text, place in zip(run.texts(), places, strict=True):
            show_text(place, text)


def _draw(place: DeltaGenerator, run: Generation) -> None:
    """The figure so far, as a picture: there is nothing to click yet."""
    config = {"displayModeBar": False, "staticPlot": True}
    figure = blocks_figure(run.usage, dark=is_dark())
    place.plotly_chart(figure, theme=None, config=config, alt=blocks_alt(run.usage))


def _advance(run: Generation) -> None:
    """One execution; a run that broke is not gone on with."""
    try:
        run.advance()
    except Exception:
        _let_go(RUN, STOP, WANTED)
        raise


def _stop() -> None:
    st.session_state[STOP] = True


def _finish(run: Generation, bar: DeltaGenerator) -> bool:
    """Prove and keep what there is of a run, and let go of everything else; say if it was proved.

    One whose proof broke is given up: the next script would only break again.
    """
    is_proved = True
    if run.moments:
        try:
            kept = _checked(run, bar)
        except Exception:
            logging.getLogger(__name__).exception("A generation could not be proved and kept")
            is_proved = False
        else:
            st.session_state[KEY] = shelf().put(kept)
            _open_wanted(kept)
    _let_go(RUN, CHECK, STOP, WANTED)
    return is_proved


def _checked(run: Generation, bar: DeltaGenerator) -> Kept:
    """The run with its proof. What a script before this one has checked is not checked again."""
    check: Check | None = st.session_state.get(CHECK)
    if check is None:
        check = check_of(run)
        st.session_state[CHECK] = check
    while not check.is_done:
        check.advance()
        share = check.num_checked / check.num_answers
        bar.progress(share, checking_words(check.num_checked, check.num_answers))
    return keep(run, check.proof())


def _open_wanted(kept: Kept) -> None:
    """Open the frame that a link asked for, or the last if there are fewer."""
    wanted: Wanted | None = st.session_state.get(WANTED)
    if wanted is not None:
        open_moment(min(wanted.index + 1, kept.num_frames), present=wanted.present)


def _let_go(*keys: str) -> None:
    """Take these out of the session, if they are there."""
    for key in keys:
        st.session_state.pop(key, None)
