"""Sandbox sessions for the page: made once for the whole class, from what is already at hand."""

from functools import partial

import streamlit as st

from pagedkv.lessons.base import Tale
from pagedkv.recorder import OnProgress
from pagedkv.run_store import RunStore
from pagedkv.sandbox.replay import AtHand, Beginning, SandboxRun, beginning_of, replay
from pagedkv.sandbox.script import Script
from pagedkv.sandbox.words import BOOK
from pages._model import model
from pages._runs import wait_for

# Three for each of a class of 30. One whose last session is not at hand waits for all its actions
# again; live ones cost little: those of one learner share their frames, and the collector, which
# walks them after every click of anybody, takes some 10 ms for them all.
MAX_SESSIONS = 96


@st.cache_resource(show_spinner=False)
def sandbox_store() -> RunStore[Tale, Beginning, SandboxRun]:
    """The one store of this server; every visitor shares it."""

    def make(book: Tale, beginning: Beginning, on_progress: OnProgress) -> SandboxRun:
        at_hand = AtHand(partial(store.find, book), partial(store.keep, book))
        return replay(beginning, model(), at_hand, on_progress)

    store = RunStore(make, max_entries=MAX_SESSIONS)
    return store


def sandbox_run(script: Script) -> SandboxRun:
    """The run of a session, its progress shown if it takes long."""
    return wait_for(sandbox_store(), BOOK, beginning_of(script), "Doing what the session says")
