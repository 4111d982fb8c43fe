"""Thirty learners at once: connections that speak Streamlit's protocol, beside one browser.

Thirty browsers on one machine would measure the browsers. A connection asks as a browser does and
counts as painted when the player's new data has arrived.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter, sleep

from playwright.sync_api import Browser
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import ClientConnection, connect

from tests.bench.measured import Measured
from tests.bench.screen import STEPPED, STOPWATCH, timed
from tests.browser.browser_tools import LessonPage

LEARNERS = 30
SPREAD = 5.0  # seconds in which all of them move the slider
PAGE = "growth"
NEW_BLOCK_SIZE = 7


class Learner:
    """One session at a lesson."""

    def __init__(self, server: str) -> None:
        address = server.replace("http://", "ws://") + "/_stcore/stream"
        self.connection: ClientConnection = connect(
            address, subprotocols=["streamlit"], max_size=None, ping_interval=None
        )
        self.slider_id = ""
        self._ask(BackMsg())
        self._listen_for(block_size=4)

    def set_block_size(self, value: int) -> float:
        """Move the slider; seconds until the new board's data is here."""
        before = perf_counter()
        message = BackMsg()
        state = WidgetState(id=self.slider_id)
        state.double_array_value.data.append(value)
        message.rerun_script.widget_states.widgets.append(state)
        self._ask(message)
        self._listen_for(block_size=value)
        return perf_counter() - before

    def _ask(self, message: BackMsg) -> None:
        message.rerun_script.page_name = PAGE
        self.connection.send(message.SerializeToString())

    def _listen_for(self, block_size: int) -> None:
        while True:
            message = ForwardMsg()
            message.ParseFromString(self.connection.recv(timeout=60))
            element = message.delta.new_element
            if element.slider.label.startswith("Block size"):
                self.slider_id = element.slider.id
            if element.bidi_component.json:
                lesson = json.loads(json.loads(element.bidi_component.json)["lesson"])
                if lesson["config"]["block_size"] == block_size:
                    return


def measure_classroom(browser: Browser, server: str) -> list[Measured]:
    """Lines for thirty sessions that set the same new value, and for stepping meanwhile."""
    lesson = LessonPage(browser.new_page(), server).go_to(f"/{PAGE}").wait_for_player()
    lesson.page.evaluate(STOPWATCH)
    learners = [Learner(server) for _ in range(LEARNERS)]
    quiet = _steps(lesson, 10)
    with ThreadPoolExecutor(LEARNERS) as class_:
        waits = [
            class_.submit(_move_after, SPREAD * place / LEARNERS, learner)
            for place, learner in enumerate(learners)
        ]
        meanwhile = _steps(lesson, 40)
        seconds = sorted(wait.result() for wait in waits)
    for learner in learners:
        learner.connection.close()
    return [_waits(seconds), _unaffected(quiet, meanwhile)]


def _move_after(delay: float, learner: Learner) -> float:
    sleep(delay)
    return learner.set_block_size(NEW_BLOCK_SIZE)


def _steps(lesson: LessonPage, count: int) -> list[float]:
    seconds = []
    for turn in range(count):
        before = lesson.step_label.inner_text()
        key = "ArrowRight" if turn % 2 == 0 else "ArrowLeft"
        seconds.append(timed(lesson.page, key, STEPPED.format(before=before)))
        lesson.page.wait_for_timeout(100)
    return sorted(seconds)


def _waits(seconds: list[float]) -> Measured:
    value = f"{seconds[len(seconds) // 2]:.2f} s, at most {seconds[-1]:.2f} s"
    what = f"{len(seconds)} sessions set the same new value within {SPREAD:.0f} s"
    return Measured(what, "all painted ≤ 3 s", value, seconds[-1] <= 3)


def _unaffected(quiet: list[float], meanwhile: list[float]) -> Measured:
    before, during = (1000 * times[len(times) // 2] for times in (quiet, meanwhile))
    value = f"{during:.0f} ms ({before:.0f} ms before)"
    return Measured("a step in the browser meanwhile", "≤ 33 ms", value, during <= 33)
