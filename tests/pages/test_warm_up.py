"""What the server does before its first visitor, and how it is set up for a class."""

import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
import torch

from pagedkv.lessons import LESSONS
from pagedkv.lessons.base import Lesson
from pagedkv.settings import Settings
from pages import _warm_up


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """Torch's number of threads is the process's: leave it as it was."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a warm-up does, in order; nothing is computed, and threads run where they start."""
    done: list[str] = []

    def get(lesson: Lesson, settings: Settings) -> None:
        assert settings == Settings()
        done.append(lesson.slug)

    class AtOnce:
        def __init__(self, target: Callable[[], None], daemon: bool) -> None:
            assert daemon
            self.start = lambda: (done.append("in the background"), target())

    collector = SimpleNamespace(
        collect=lambda: done.append("collect"),
        freeze=lambda: done.append("freeze"),
        get_threshold=lambda: (700, 10, 10),
        set_threshold=lambda *thresholds: done.append(f"thresholds {thresholds}"),
    )
    monkeypatch.setattr(_warm_up, "run_store", lambda: SimpleNamespace(get=get))
    monkeypatch.setattr(_warm_up, "Thread", AtOnce)
    monkeypatch.setattr(_warm_up, "sleep", lambda seconds: None)
    monkeypatch.setattr(_warm_up, "gc", collector)
    monkeypatch.setattr(_warm_up, "say_where", lambda: done.append("say where"))
    return done


def warm_up_until_the_first_visitor(app: Any = None) -> None:
    async def enter() -> None:
        async with _warm_up.warm_up(app):
            pass

    # Nothing in it waits, so one step is all of it; a loop of its own would not be allowed where
    # a browser test of the same process keeps one.
    with pytest.raises(StopIteration):
        enter().send(None)


def test_the_first_lesson_is_made_before_anybody_comes_and_the_others_behind_the_scenes(
    done: list[str],
) -> None:
    warm_up_until_the_first_visitor()
    slugs = [lesson.slug for lesson in LESSONS]
    assert [step for step in done if step in slugs] == slugs
    assert done.index(slugs[0]) < done.index("in the background") < done.index(slugs[1])
    assert done[-1] == "say where"


def test_what_was_imported_is_frozen_once(done: list[str]) -> None:
    warm_up_until_the_first_visitor()
    assert done.count("freeze") == 1
    assert done.index("collect") < done.index("freeze") < done.index("in the background")
    assert "thresholds (10000, 10, 10)" in done
    assert "pages._lesson" in sys.modules  # imported here, and with it Plotly


def test_torch_gets_one_thread(done: list[str]) -> None:
    warm_up_until_the_first_visitor()
    assert torch.get_num_threads() == 1


def test_the_app_warms_up(project: Path) -> None:
    made: list[tuple[str, Any]] = []
    code = compile((project / "app.py").read_text(encoding="utf-8"), "app.py", "exec")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "App", lambda script, *, lifespan: made.append((script, lifespan)))
        exec(code, {})
    assert made == [("pages/course.py", _warm_up.warm_up)]


def test_the_server_tells_nobody_watches_nothing_and_stays_protected(project: Path) -> None:
    config = tomllib.loads((project / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["browser"]["gatherUsageStats"] is False
    assert config["server"]["fileWatcherType"] == "none"
    assert config["server"]["enableCORS"] is True
    assert config["server"]["enableXsrfProtection"] is True
