"""What can be done in the sandbox: a column per action, and what the engine will check first."""

from collections.abc import Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pagedkv.model.prompts import PASSAGE_B, prompt
from pagedkv.sandbox.actions import (
    Action,
    DecodeToken,
    EngineStep,
    Finish,
    Fork,
    NewRequest,
    number_of,
)
from pagedkv.sandbox.foresee import (
    before_decode,
    before_finish,
    before_fork,
    before_new,
    before_step,
)
from pagedkv.sandbox.script import LONGEST_PROMPT
from pagedkv.sandbox.session import Session
from pages._sandbox_state import act

FIRST_PROMPT = prompt(PASSAGE_B, 6)
REQUEST = "sandbox_request"  # in the session: whom the next action is about


def show_actions(session: Session) -> None:
    """What the actions are about, and below it a button for each."""
    with st.container(key="sandbox-about", horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            "Prompt", FIRST_PROMPT, max_chars=LONGEST_PROMPT, key="sandbox_prompt", width=300
        )
        name = choose_request((*session.running, *session.waiting))
        token = st.text_input(
            "Token", max_chars=1, placeholder="the model's", key="sandbox_token", width=130
        )
        st.markdown(f"{len(session.running)} running, {len(session.waiting)} waiting")
    new, *about_one, step = st.container(key="sandbox-actions").columns(5, gap="small")
    show_button(new, "New request", NewRequest(text), before_new(session, text), disabled=not text)
    show_about_one(about_one, session, name, token or None)
    show_button(step, "One engine step", EngineStep(), before_step(session))


def choose_request(names: Sequence[str]) -> str | None:
    """Whom the next action is about: whoever it was before, else the first."""
    if st.session_state.get(REQUEST) not in names:
        st.session_state[REQUEST] = names[0] if names else None
    name: str | None = st.selectbox("Request", names, key=REQUEST, placeholder="none", width=110)
    return name


def show_about_one(
    places: Sequence[DeltaGenerator], session: Session, name: str | None, token: str | None
) -> None:
    """The actions that are about one request."""
    number = None if name is None else number_of(name)
    for place, label, make, foresee in zip(
        places,
        ("Decode one token", "Fork", "Finish"),
        (partial(DecodeToken, token=token), Fork, Finish),
        (before_decode, before_fork, before_finish),
        strict=True,
    ):
        if name is None or number is None:
            show_button(place, label, EngineStep(), "", disabled=True)
        else:
            show_button(place, label, make(number), f"{name} {foresee(session, name)}")


def show_button(
    place: DeltaGenerator, label: str, action: Action, foreseen: str, *, disabled: bool = False
) -> None:
    """The button of an action, and below it what will be checked when it is pressed."""
    place.button(label, on_click=act, args=(action,), disabled=disabled, width="stretch", key=label)
    place.markdown(foreseen)
