"""What a session of the server remembers of a learner's sandbox: a timeline, the one that was left
for it, and one message.

The address is read once, when the learner arrives; from then on the browser writes it.
"""

from collections.abc import Callable

import streamlit as st

from pagedkv.sandbox.actions import Action
from pagedkv.sandbox.as_file import read_file
from pagedkv.sandbox.as_link import read_link
from pagedkv.sandbox.script import Pool, Script, ScriptError
from pagedkv.sandbox.starts import STARTS
from pagedkv.sandbox.timeline import Timeline
from pages._notice import Notice
from pages._permalink import nearest_step, read_present, read_step
from pages._player import Opening
from pages._view import PLACE, leave

LINK = "s"  # the query parameter with the session in it
QUERY_NAMES = (LINK, "step", "present")
PLAYER = "player-sandbox"

_TIMELINE = "sandbox_timeline"
_LEFT = "sandbox_left"
_NOTICE = "sandbox_notice"
_NUMBER = "sandbox_opening"
_STEP = "sandbox_step"
_PRESENT = "sandbox_present"
_HERE = "sandbox"

START = "sandbox_start"  # the choice of a ready-made beginning
EMPTY = "An empty pool"


def timeline() -> Timeline:
    """What was done, and what was taken back."""
    now: Timeline = st.session_state[_TIMELINE]
    return now


def left() -> Timeline | None:
    """What was on the screen before a start or a file took its place, until something is done."""
    before: Timeline | None = st.session_state.get(_LEFT)
    return before


def notice() -> Notice | None:
    """What has to be said about the last thing that was asked."""
    now: Notice | None = st.session_state[_NOTICE]
    return now


def opening() -> Opening:
    """Which opening of the player this is, and the frame to open."""
    return Opening(st.session_state[_NUMBER], st.session_state[_STEP], st.session_state[_PRESENT])


def arrive() -> None:
    """Read the address if the learner has just come; bring the widgets in line with the pool."""
    if st.session_state.get(PLACE) != _HERE:
        leave()
        st.session_state[PLACE] = _HERE
        _read_address()
    pool = timeline().script.pool
    for name in ("block_size", "capacity", "free_order"):
        st.session_state[f"sandbox_{name}"] = getattr(pool, name)


def act(action: Action) -> None:
    """Do an action, or say why it cannot be."""
    _try(lambda: timeline().do(action))
    st.session_state[_LEFT] = None


def undo() -> None:
    """Take the last action back."""
    _show(timeline().undo())


def redo() -> None:
    """Do again what was taken back last."""
    _show(timeline().redo())


def branch() -> None:
    """Go on from the frame that the learner looks at; what came after can be done again."""
    index = st.session_state[PLAYER].branch
    if isinstance(index, int) and 0 <= index <= timeline().num_actions:
        _show(timeline().back_to(index))


def change_pool() -> None:
    """The same actions in the pool that the widgets say."""
    chosen = {
        name: st.session_state[f"sandbox_{name}"]
        for name in ("block_size", "capacity", "free_order")
    }
    _try(lambda: timeline().in_pool(Pool(**chosen)))


def start_from() -> None:
    """Begin with one of the ready-made sessions, or with an empty pool; the choice is used up."""
    title = st.session_state[START]
    st.session_state[START] = None
    if title is not None:
        scripts = {start.title: start.script for start in STARTS}
        _replace(scripts.get(title, Script()))


def open_file(content: bytes) -> None:
    """Show the session of a file, or an empty one and what is wrong with the file."""
    try:
        _replace(read_file(content))
    except ScriptError as error:
        _replace(Script(), Notice("This file is no session", f"{error}."))


def bring_back() -> None:
    """Show again what a start or a file took the place of."""
    before = left()
    if before is not None:
        _show(before)
        st.session_state[_LEFT] = None


def _read_address() -> None:
    """Show the session of the address; without one, what the learner had before or nothing."""
    words = st.query_params.get_all(LINK)
    if not words:
        _show(st.session_state.get(_TIMELINE, Timeline()))
        return
    try:
        _show(Timeline(read_link(words[0])))
    except ScriptError as error:
        _show(Timeline(), Notice("This link holds no session", f"{error}."))
        return
    _read_view()


def _read_view() -> None:
    """Open the frame that the address says; a presentation would lie over what is to be said."""
    step, notices = read_step(st.query_params.get_all("step"))
    present, more = read_present(st.query_params.get_all("present"))
    notices += more
    if step is not None:
        st.session_state[_STEP], more = nearest_step(step, timeline().num_actions + 1)
        notices += more
    if notices:
        st.session_state[_NOTICE] = Notice(" ".join(notices))
    st.session_state[_PRESENT] = present and not notices


def _try(make: Callable[[], Timeline]) -> None:
    try:
        _show(make())
    except ScriptError as error:
        st.session_state[_NOTICE] = Notice("Nothing was done", f"{error}.")


def _replace(script: Script, text: Notice | None = None) -> None:
    """Show another session in the place of this one, which can be brought back."""
    before = left() or timeline()  # one beginning after another: the learner's own is kept
    _show(Timeline(script), text)
    st.session_state[_LEFT] = None if before == Timeline() else before


def _show(now: Timeline, text: Notice | None = None) -> None:
    """Show another timeline, at its last frame."""
    st.session_state[_TIMELINE] = now
    st.session_state[_NOTICE] = text
    st.session_state[_NUMBER] = st.session_state.get(_NUMBER, 0) + 1
    st.session_state[_STEP] = now.num_actions
    st.session_state[_PRESENT] = False
