"""A run that takes long says so beside the title, and a quick one says nothing."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import streamlit as st
from app_pages import Open, sent_to_player
from streamlit.testing.v1 import AppTest

from pagedkv.lessons import find_lesson
from pagedkv.run_store import Progress
from pagedkv.settings import Settings
from pages import _runs

NEWS = "Running the lesson"
STOP = None  # what Streamlit does to a script whose learner has moved a slider again


class SlowRun:
    """A run that is ready when ``looks`` says so: one answer per look at it."""

    def __init__(self, looks: list[bool | None], frames: int) -> None:
        self.looks = iter(looks)
        self.waited: list[float] = []
        self.progress = Progress(frames)

    @contextmanager
    def waiting_for(self, *_: object) -> Iterator["SlowRun"]:
        yield self

    def wait(self, seconds: float) -> bool:
        self.waited.append(seconds)
        look = next(self.looks)
        if look is STOP:
            st.stop()
        return look

    def result(self) -> _runs.LessonRun:
        return _runs._run_lesson(find_lesson("growth"), Settings(), lambda *_: None)


def shown(app: AppTest) -> list[str]:
    return [markdown.value for markdown in app.markdown if NEWS in markdown.value]


@pytest.mark.parametrize(
    ("frames", "so_far"), [(0, ""), (1, "1 frame so far"), (7, "7 frames so far")]
)
def test_a_run_of_more_than_half_a_second_is_told_with_its_frames(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, frames: int, so_far: str
) -> None:
    run = SlowRun([False, False, STOP], frames)
    monkeypatch.setattr(_runs, "run_store", lambda: run)
    (news,) = shown(open_page("growth"))
    assert news == f":material/hourglass_top: {NEWS} … {so_far}".strip()
    assert run.waited == [0.5, 0.25, 0.25]


def test_nothing_is_told_in_the_first_half_second(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = SlowRun([STOP], frames=3)
    monkeypatch.setattr(_runs, "run_store", lambda: run)
    assert shown(open_page("growth")) == []
    assert run.waited == [0.5]


@pytest.mark.parametrize("looks", [[True], [False, False, True]], ids=["quick", "slow"])
def test_a_run_that_is_ready_leaves_no_news_and_is_shown(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, looks: list[bool | None]
) -> None:
    monkeypatch.setattr(_runs, "run_store", lambda: SlowRun(looks, frames=2))
    app = open_page("growth")
    assert shown(app) == []
    assert sent_to_player(app)["lesson"]["lesson"]["slug"] == "growth"
