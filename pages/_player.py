"""The player as a Streamlit component: registered once, moved in the browser, no round trip."""

from pathlib import Path

import streamlit as st

from pagedkv.lessons.base import Lesson
from pagedkv.player import player_css, player_js
from pagedkv.settings import Settings
from pages._permalink import QUERY_NAMES, nearest_step, query_of
from pages._runs import LessonRun
from pages._view import Arrival

ADAPTER_JS = Path(__file__).with_name("_adapter.js").read_text(encoding="utf-8")
ADAPTER_CSS = Path(__file__).with_name("_adapter.css").read_text(encoding="utf-8")

_mount = st.components.v2.component(
    "pagedkv_player",
    js=f"{player_js()}\n{ADAPTER_JS}",
    css=f"{player_css()}\n{ADAPTER_CSS}",
)


def show_player(lesson: Lesson, settings: Settings, run: LessonRun, arrival: Arrival) -> None:
    """Draw the player. On reruns the board stays mounted and keeps its frame."""
    step, _ = nearest_step(arrival.asked_for.step, run.num_frames)
    # A presentation would lie over what the page has to say about its address.
    is_plain = not arrival.notices(settings, run.num_frames)
    _mount(
        key=f"player-{lesson.slug}",
        data={
            "lesson": run.player_json,
            "arrival": {
                "number": arrival.number,
                "index": step,
                "present": arrival.asked_for.present and is_plain,
            },
            "address": {"names": QUERY_NAMES, "settings": query_of(settings)},
        },
    )
