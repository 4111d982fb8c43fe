"""Lesson runs for the pages: made once for the whole class, waited for with progress."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from pagedkv.lessons.base import Lesson
from pagedkv.player import player_data
from pagedkv.recorder import record
from pagedkv.settings import Settings
from pagedkv.trace.frame import Trace
from pagedkv.trace_store import OnProgress, Progress, TraceStore

MAX_RUNS = 64
SECONDS_WITHOUT_PROGRESS = 0.5
SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class LessonRun:
    """A trace, and the player's data made from it."""

    trace: Trace
    data: dict[str, Any]


@st.cache_resource(show_spinner=False)
def run_store() -> TraceStore[LessonRun]:
    """The one store of this server; every session shares it."""
    return TraceStore(_run_lesson, max_entries=MAX_RUNS)


def lesson_run(lesson: Lesson, settings: Settings) -> LessonRun:
    """The run of a lesson, its progress shown if it takes long.

    While a session waits here and the learner moves a slider again, Streamlit stops this script at
    the next look at the progress, which leaves the run; one that nobody waits for is given up.
    """
    with st.container(key="progress"):
        place = st.empty()
    with run_store().waiting_for(lesson, settings) as run:
        if not run.wait(SECONDS_WITHOUT_PROGRESS):
            while not run.wait(SECONDS_BETWEEN_LOOKS):
                place.markdown(_in_words(run.progress))
            place.empty()
        return run.result()


def _in_words(progress: Progress) -> str:
    frames = "1 frame" if progress.frames == 1 else f"{progress.frames} frames"
    return f":material/hourglass_top: Running the lesson … {frames} so far"


def _run_lesson(lesson: Lesson, settings: Settings, on_progress: OnProgress) -> LessonRun:
    trace = record(lesson, settings, on_progress=on_progress)
    return LessonRun(trace, player_data(trace, lesson))
