"""The row of settings: three sliders that act on release, a lesson's presets, and the way back."""

import streamlit as st

from pagedkv.lessons.base import Lesson
from pagedkv.settings import RANGES, Settings
from pages._permalink import DEFAULTS
from pages._view import choose, chosen, keep_choice


def show_settings(lesson: Lesson) -> Settings:
    """Draw the row and return what is chosen."""
    keep_choice()
    with st.container(key="settings", horizontal=True, vertical_alignment="center", gap="medium"):
        _slider("block_size", "Block size", "Slots in a block.")
        _slider(
            "capacity",
            f"Capacity {_in_blocks(chosen())}",
            "Positions that the KV memory holds. A remainder that makes no whole block "
            "cannot be used.",
        )
        _slider("prompt_length", "Prompt length", "Positions in each prompt; one character each.")
        for preset in lesson.presets:
            _button(preset.label, preset.settings)
        _button("Defaults", DEFAULTS)
    return chosen()


def _slider(name: str, label: str, explanation: str) -> None:
    allowed = RANGES[name]
    st.slider(label, allowed[0], allowed[-1], key=name, help=explanation)


def _button(label: str, settings: Settings) -> None:
    st.button(label, on_click=choose, args=(settings,), disabled=chosen() == settings)


def _in_blocks(settings: Settings) -> str:
    blocks = "1 block" if settings.num_blocks == 1 else f"{settings.num_blocks} blocks"
    if settings.unusable_slots == 0:
        return f"= {blocks}"
    return f"= {blocks}, {settings.unusable_slots} over"
