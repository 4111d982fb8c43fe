"""A script that begins while the one before is still on its way, as after every click."""

from collections.abc import Callable
from threading import Lock, Thread

import pytest
from app_pages import PATIENCE
from streamlit.testing.v1 import AppTest

import kernels
from pagedkv.generate import Choices, Generation
from pagedkv.model import load_model
from pagedkv.workloads import Setup, make_workload
from pagedkv.workloads.kinds import StudyKind
from pagedkv.workloads.study import Study

A_MOMENT = 1.0  # seconds for a script to do what it must not; a slower one is only not found out


def generate_page() -> None:
    from pages._generate import show_generate

    show_generate()


def workloads_page() -> None:
    from pages._workloads import show_workloads

    show_workloads()


def run_while_held(app: AppTest, turn: Lock, is_untouched: Callable[[], bool]) -> None:
    """Run the page while another script has its turn, and see it wait until that has left."""
    script = Thread(target=app.run)
    with turn:
        script.start()
        script.join(A_MOMENT)
        assert script.is_alive() and is_untouched()
    script.join(PATIENCE)
    assert not script.is_alive() and not app.exception


def test_a_generation_is_not_gone_on_with_by_two_scripts() -> None:
    choices = Choices(num_answers=2, length=4)
    run = Generation(choices, load_model(kernels.runtime()["device"]))
    app = AppTest.from_function(generate_page, default_timeout=PATIENCE)
    app.session_state["generate_run"] = run
    run_while_held(app, run.turn, lambda: not run.moments)
    assert len(run.moments) == choices.length


def test_a_generation_that_was_stopped_is_kept_only_when_nobody_is_at_it() -> None:
    run = Generation(Choices(num_answers=2, length=4), load_model(kernels.runtime()["device"]))
    run.advance()
    app = AppTest.from_function(generate_page, default_timeout=PATIENCE)
    app.session_state["generate_run"] = run
    app.session_state["generate_stop"] = True
    run_while_held(app, run.turn, lambda: "generate_key" not in app.session_state)
    assert len(run.moments) == 1


def study_of(num_requests: int) -> Study:
    workload = make_workload("sharegpt", num_requests, 0)
    return Study(StudyKind.POLICIES, workload, Setup(), policies=["max", "paged"])


def test_a_study_is_not_gone_on_with_by_two_scripts() -> None:
    study, alone = study_of(200), study_of(200)
    alone.run()
    app = AppTest.from_function(workloads_page, default_timeout=PATIENCE)
    app.session_state["workloads_study"] = study
    run_while_held(app, study.turn, lambda: study.findings() is None)
    assert app.session_state["workloads_findings"].outcomes == alone.findings().outcomes


class Enough(Exception):
    """A script was ended."""


def end_script(done: int, _: int) -> None:
    if done:
        raise Enough


def test_a_study_that_was_stopped_is_looked_at_only_when_nobody_is_at_it() -> None:
    study = study_of(200)
    with pytest.raises(Enough):
        study.run(end_script)
    app = AppTest.from_function(workloads_page, default_timeout=PATIENCE)
    app.session_state["workloads_study"] = study
    app.session_state["workloads_stop"] = True
    run_while_held(app, study.turn, lambda: "workloads_findings" not in app.session_state)
    assert app.session_state["workloads_findings"].outcomes == study.findings().outcomes
    assert study.current is not None
