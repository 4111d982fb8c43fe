"""Sandbox sessions for the page: made once for the whole class, from what is already at hand."""

from dataclasses import dataclass

import streamlit as st

from pagedkv.lessons.base import Tale
from pagedkv.player import player_json
from pagedkv.recorder import OnProgress
from pagedkv.run_store import RunStore
from pagedkv.sandbox.as_python import to_python
from pagedkv.sandbox.replay import Replayer
from pagedkv.sandbox.script import Script
from pagedkv.sandbox.session import Session
from pagedkv.sandbox.words import BOOK
from pages._model import model
from pages._runs import wait_for

# Three for each of a class of 30. One whose last session is not at hand waits for all its actions
# again; live ones cost little: those of one learner share their frames, and the collector, which
# walks them after every click of anybody, takes some 10 ms for them all.
MAX_SESSIONS = 96


@dataclass(frozen=True, slots=True, eq=False)
class SandboxRun:
    """A session, which nobody changes any more, the player's data of it as JSON, and the Python
    script that does the same.
    """

    session: Session
    num_frames: int
    player_json: str
    python: str


@st.cache_resource(show_spinner=False)
def sandbox_store() -> RunStore[Tale, Script, SandboxRun]:
    """The one store of this server; every visitor shares it."""
    replayer = Replayer(model(), MAX_SESSIONS)

    def make(book: Tale, script: Script, on_progress: OnProgress) -> SandboxRun:
        session = replayer.session_after(script, on_progress)
        trace = session.trace()
        text, python = player_json(trace, book), to_python(script, trace)
        return SandboxRun(session, len(trace.frames), text, python)

    return RunStore(make, max_entries=MAX_SESSIONS)


def sandbox_run(script: Script) -> SandboxRun:
    """The run of a session, its progress shown if it takes long."""
    return wait_for(sandbox_store(), BOOK, script, "Doing what the session says")
