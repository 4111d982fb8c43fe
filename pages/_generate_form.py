"""What is to be generated: the form, and the link that a visitor may have arrived by."""

from typing import Any

import streamlit as st

from pagedkv.generate import HIGHEST_TEMPERATURE, LONGEST_PROMPT, RANGES, ChoiceError, Choices
from pagedkv.generate.as_query import NAMES, AskedFor, from_query
from pages._model import model

WIDTH = 130  # pixels of a number: six of them and the button stand beside each other

HOW_MANY = (
    ("num_answers", "Answers", None),
    ("length", "New characters", "For each answer."),
)
HOW = (
    ("top_k", "Top-k", "So many of the likeliest characters may be drawn."),
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
    for name in NAMES:
        st.session_state.setdefault(_key(name), getattr(Choices(), name))
    with st.form("generate_form"):
        prompt = st.text_area("Prompt", max_chars=LONGEST_PROMPT, height=80, key=_key("prompt"))
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            numbers = {name: _number(name, label, help_) for name, label, help_ in HOW_MANY}
            temperature = st.number_input(
                "Temperature",
                0.0,
                HIGHEST_TEMPERATURE,
                step=0.1,
                key=_key("temperature"),
                width=WIDTH,
                help="0 takes the likeliest character, so that all answers are equal.",
            )
            numbers |= {name: _number(name, label, help_) for name, label, help_ in HOW}
            sent = st.form_submit_button("Generate", icon=":material/play_arrow:")
    if not sent:
        return None
    try:
        return Choices(prompt=prompt, temperature=temperature, **numbers)
    except ChoiceError as error:
        refuse(error)
        return None


def refuse(error: ChoiceError) -> None:
    """Say what would do. The message may repeat what a visitor typed, so it is no Markdown."""
    st.warning("This cannot be generated:", icon=":material/block:")
    st.text(str(error))


def _key(name: str) -> str:
    return f"generate_{name}"


def _most(name: str) -> int:
    most = RANGES[name][-1]
    return min(most, model().config.vocab_size) if name == "top_k" else most


def _number(name: str, label: str, explanation: str | None) -> int:
    least, most = RANGES[name][0], _most(name)
    return int(st.number_input(label, least, most, key=_key(name), width=WIDTH, help=explanation))


def _fitting(name: str, value: Any) -> Any:
    """What a widget of the form can hold; more than it can is refused later, in words."""
    if name == "prompt":
        return value[:LONGEST_PROMPT]
    return min(value, _most(name)) if name in RANGES else value
