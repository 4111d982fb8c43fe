"""Two scripts of one session at once, as Streamlit runs them for a moment after every click."""

from threading import Event, Lock, Thread

from app_pages import PATIENCE
from streamlit.testing.v1 import AppTest

import kernels
from pagedkv.generate import Choices, Generation
from pagedkv.model import load_model

A_MOMENT = 0.5  # seconds for a script to do what it must not; a slow one is only not found out


def generate_page() -> None:
    from pages._generate import show_generate

    show_generate()


class Meeting:
    """A step that waits in the first script until it is let go, and counts who is in it."""

    def __init__(self, step) -> None:
        self.is_reached, self.may_go_on = Event(), Event()
        self.num_inside = self.most_inside = 0
        self._counting, self._step = Lock(), step

    def __call__(self, *arguments, **named):
        with self._counting:
            self.num_inside += 1
            self.most_inside = max(self.most_inside, self.num_inside)
        self.is_reached.set()
        self.may_go_on.wait(PATIENCE)
        try:
            return self._step(*arguments, **named)
        finally:
            with self._counting:
                self.num_inside -= 1


def apps_meet(meeting: Meeting, *apps: AppTest) -> None:
    """Run these pages, the second from when the first is in the step."""
    scripts = [Thread(target=app.run) for app in apps]
    scripts[0].start()
    assert meeting.is_reached.wait(PATIENCE)
    scripts[1].start()
    scripts[1].join(A_MOMENT)
    meeting.may_go_on.set()
    for script in scripts:
        script.join(PATIENCE)
    assert not any(app.exception for app in apps)


def test_only_one_script_goes_on_with_a_generation(monkeypatch) -> None:
    choices = Choices(num_answers=2, length=4)
    run = Generation(choices, load_model(kernels.runtime()["device"]))
    meeting = Meeting(run.advance)
    monkeypatch.setattr(run, "advance", meeting)
    apps = [AppTest.from_function(generate_page, default_timeout=PATIENCE) for _ in range(2)]
    for app in apps:
        app.session_state["generate_run"] = run
    apps_meet(meeting, *apps)
    assert len(run.moments) == choices.length
    assert meeting.most_inside == 1
