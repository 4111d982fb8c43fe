"""Sandbox sessions for the page: made once for the whole class, from what is already at hand."""

import json
from dataclasses import dataclass

import streamlit as st

import kernels
from pagedkv.model import load_model
from pagedkv.player import player_data
from pagedkv.recorder import OnProgress
from pagedkv.run_store import RunStore
from pagedkv.sandbox.replay import Replayer
from pagedkv.sandbox.script import Script
from pagedkv.sandbox.session import Session
from pagedkv.sandbox.words import BOOK, Book
from pages._runs import wait_for

# Sessions are live objects, which the collector walks after every click of anybody; few are kept.
MAX_SESSIONS = 16


@dataclass(frozen=True, slots=True, eq=False)
class SandboxRun:
    """A session, which nobody changes any more, and the player's data of it as JSON."""

    session: Session
    num_frames: int
    player_json: str


@st.cache_resource(show_spinner=False)
def sandbox_store() -> RunStore[Book, Script, SandboxRun]:
    """The one store of this server; every visitor shares it."""
    replayer = Replayer(load_model(kernels.runtime()["device"]), MAX_SESSIONS)

    def make(book: Book, script: Script, on_progress: OnProgress) -> SandboxRun:
        session = replayer.session_after(script, on_progress)
        data = player_data(session.trace(), book)
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
        return SandboxRun(session, len(session.recorder.frames), text)

    return RunStore(make, max_entries=MAX_SESSIONS)


def sandbox_run(script: Script) -> SandboxRun:
    """The run of a session, its progress shown if it takes long."""
    return wait_for(sandbox_store(), BOOK, script, "Doing what the session says")
