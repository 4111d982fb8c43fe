"""Lesson runs for the pages: made once for the whole class, waited for with progress."""

import pickle
from dataclasses import dataclass

import streamlit as st

from pagedkv.lessons.base import Lesson
from pagedkv.player import player_json
from pagedkv.recorder import OnProgress, record
from pagedkv.run_store import Choice, Made, Progress, RunStore, Subject
from pagedkv.settings import Settings
from pagedkv.trace.frame import Trace

MAX_RUNS = 128  # about 0.1 MB each at the defaults, 2 MB in the largest corner of the ranges
SECONDS_WITHOUT_PROGRESS = 0.5
SECONDS_BETWEEN_LOOKS = 0.25


@dataclass(frozen=True, slots=True)
class LessonRun:
    """A lesson run at rest: how many frames it has, the player's data as JSON, the trace as bytes.

    Text and bytes rather than thousands of objects, because the collector walks whatever is alive
    after every run of a page.
    """

    num_frames: int
    player_json: str
    pickled_trace: bytes

    def trace(self) -> Trace:
        """A trace of one's own, for figures."""
        trace: Trace = pickle.loads(self.pickled_trace)
        return trace


@st.cache_resource(show_spinner=False)
def run_store() -> RunStore[Lesson, Settings, LessonRun]:
    """The one store of this server; every session shares it."""
    return RunStore(_run_lesson, max_entries=MAX_RUNS)


def _run_lesson(lesson: Lesson, settings: Settings, on_progress: OnProgress) -> LessonRun:
    trace = record(lesson, settings, on_progress=on_progress)
    return LessonRun(len(trace.frames), player_json(trace, lesson), pickle.dumps(trace))


def lesson_run(lesson: Lesson, settings: Settings) -> LessonRun:
    """The run of a lesson, its progress shown if it takes long."""
    return wait_for(run_store(), lesson, settings, "Running the lesson")


def wait_for(
    store: RunStore[Subject, Choice, Made], subject: Subject, choice: Choice, doing: str
) -> Made:
    """A run of ``store``, its progress shown if it takes long; ``doing`` says what goes on.

    While a session waits here and the learner chooses something else, Streamlit stops this script
    at the next look at the progress, which leaves the run; one that nobody waits for is given up.
    """
    with st.container(key="progress"):
        place = st.empty()
    with store.waiting_for(subject, choice) as run:
        if not run.wait(SECONDS_WITHOUT_PROGRESS):
            while not run.wait(SECONDS_BETWEEN_LOOKS):
                place.markdown(_in_words(doing, run.progress))
            place.empty()
        return run.result()


def _in_words(doing: str, progress: Progress) -> str:
    so_far = {0: "", 1: "1 frame so far"}.get(progress.frames, f"{progress.frames} frames so far")
    return f":material/hourglass_top: {doing} … {so_far}"
