"""A script that begins while the one before is still on its way, as after every click."""

from collections.abc import Callable
from threading import Lock, Thread

from app_pages import PATIENCE
from streamlit.testing.v1 import AppTest

import kernels
from pagedkv.generate import Choices, Generation
from pagedkv.model import load_model

A_MOMENT = 1.0  # seconds for a script to do what it must not; a slower one is only not found out


def generate_page() -> None:
    from pages._generate import show_generate

    show_generate()


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
