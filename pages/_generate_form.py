"""What is to be generated: the form, and the link that a visitor may have arrived by."""

from typing import Any

import streamlit as st

from pagedkv.generate import (
    COURSE,
    HIGHEST_TEMPERATURE,
    LARGE,
    LONGEST_TEXT,
    MODELS,
    RANGES,
    ChoiceError,
    Choices,
)
from pagedkv.generate.as_query import NAMES, AskedFor, from_query
from pages._model import large_model, model
from pages._whole_number import whole_number

CHOSEN = "generate_chosen"  # in the session: what the fields held when they were last sent
WIDTH = 130  # pixels of a number: six of them and the button stand beside each other

HOW_MANY = (
    ("num_answers", "Answers", None),
    ("length", "New tokens", "For each answer. The course's model writes a character a token."),
)
HOW = (
    ("top_k", "Top-k", "So many of the likeliest tokens may be drawn."),
    ("seed", "Seed", "The same seed gives the same answers."),
    ("block_size", "Block size", "Slots in a block."),
)


def asked_by_link() -> AskedFor | None:
    """What the address asks for, if it names choices; they are put into the form."""
    asked_for = from_query(st.query_params.to_dict())
    if asked_for is not None:
        for name in NAMES:
            st.session_state[_key(name)] = _fitting(name, getattr(asked_for.choices, name))
    return asked_for


def show_form() -> Choices | None:
    """Let the visitor choose; return the choices once they are sent and can be honoured."""
    _fill_in()
    with st.form("generate_form"):
        chosen = choose_model()
        prompt = st.text_area("Prompt", max_chars=LONGEST_TEXT, height=68, key=_key("prompt"))
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            numbers = {name: _number(name, label, help_) for name, label, help_ in HOW_MANY}
            temperature = st.number_input(
                "Temperature",
                0.0,
                HIGHEST_TEMPERATURE,
                step=0.1,
                key=_key("temperature"),
                width=WIDTH,
                help="0 takes the likeliest token, so that all answers are equal.",
            )
            numbers |= {name: _number(name, label, help_) for name, label, help_ in HOW}
            sent = st.form_submit_button("Generate", icon=":material/play_arrow:")
    st.session_state[CHOSEN] = {name: st.session_state[_key(name)] for name in NAMES}
    if not sent:
        return None
    try:
        return Choices(prompt=prompt, temperature=temperature, model=chosen, **numbers)
    except ChoiceError as error:
        refuse(error)
        return None


def _fill_in() -> None:
    """Have the fields hold what they held before, for Streamlit forgets those of a page left."""
    before = st.session_state.get(CHOSEN, {})
    for name in NAMES:
        st.session_state.setdefault(_key(name), before.get(name, getattr(Choices(), name)))


def choose_model() -> str:
    """The course's model, or a real LLM where this machine has one; else say how to get it."""
    found = large_model()
    names = {COURSE: model().name, LARGE: found.name}
    if found.missing is not None:
        st.session_state[_key("model")] = COURSE
    chosen: str = st.radio(
        "Model",
        MODELS,
        format_func=lambda choice: names[choice],
        horizontal=True,
        label_visibility="collapsed",
        disabled=found.missing is not None,
        key=_key("model"),
    )
    if found.missing is not None:
        st.text(f"{found.name} cannot be chosen: {found.missing}.")  # has a path: no Markdown
    return chosen


def refuse(error: ChoiceError) -> None:
    """Say what would do. The message may repeat what a visitor typed, so it is no Markdown."""
    st.warning("This cannot be generated:", icon=":material/block:")
    st.text(str(error))


def _key(name: str) -> str:
    return f"generate_{name}"


def _number(name: str, label: str, explanation: str | None) -> int:
    number = whole_number(label, RANGES[name], "min", key=_key(name), width=WIDTH, help=explanation)
    assert number is not None  # the session holds one
    return number


def _fitting(name: str, value: Any) -> Any:
    """What a widget of the form can hold: only a prompt can be too long for its own."""
    return value[:LONGEST_TEXT] if name == "prompt" else value
