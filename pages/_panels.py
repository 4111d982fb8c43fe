"""The whole lesson in one picture, drawn only when a learner asks for it.

A fragment of its own: choosing a picture leaves the player alone.
"""

import streamlit as st

from pagedkv.lessons.base import Lesson
from pagedkv.settings import Settings
from pages._runs import lesson_run


def show_panels(lesson: Lesson, settings: Settings) -> None:
    """stub until figures exist."""
