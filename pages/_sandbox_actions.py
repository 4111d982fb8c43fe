"""What can be done in the sandbox: a column per action, and what the engine will check first."""

from collections.abc import Callable, Sequence
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
from pagedkv.sandbox.typed import typed
from pages._sandbox_state import act, notice

FIRST_PROMPT = prompt(PASSAGE_B, 6)

# In the session, what the fields hold.
PROMPT = "sandbox_prompt"
LAST_PROMPT = "sandbox_last_prompt"  # the same, for Streamlit forgets the fields of a page left
REQUEST = "sandbox_request"  # whom the next action is about
TOKEN = "sandbox_token"
TRIED = "sandbox_token_tried"  # whether the last action was with the token of the field

LONGEST_TOKEN = 2  # a character, or a line break as backslash and n


def show_actions(session: Session) -> None:
    """What the actions are about, and below it a button for each."""
    with st.container(key="sandbox-about", horizontal=True, vertical_alignment="bottom"):
        st.session_state.setdefault(PROMPT, st.session_state.get(LAST_PROMPT, FIRST_PROMPT))
        text = st.text_input("Prompt", max_chars=LONGEST_PROMPT, key=PROMPT, width=300)
        st.session_state[LAST_PROMPT] = text
        name = choose_request((*session.running, *session.waiting))
        use_up_token(session)
        st.text_input(
            "Token",
            max_chars=LONGEST_TOKEN,
            placeholder="the model's",
            key=TOKEN,
            width=130,
            help="A character in the place of the model's choice; \\\\n or ↵ is a line break.",
        )
        st.markdown(f"{len(session.running)} running, {len(session.waiting)} waiting")
    new, *about_one, step = st.container(key="sandbox-actions").columns(5, gap="small")
    show_button(new, "New request", asked_new, before_new(session, typed(text)), disabled=not text)
    show_about_one(about_one, session, name)
    show_button(step, "One engine step", EngineStep, before_step(session))


def use_up_token(session: Session) -> None:
    """Empty the field if its token was processed; one that the engine refused stays there."""
    if st.session_state.pop(TRIED, False) and session.recorder.frames[-1].execution is not None:
        st.session_state[TOKEN] = ""


def choose_request(names: Sequence[str]) -> str | None:
    """Whom the next action is about: whoever it was before, else the first."""
    if st.session_state.get(REQUEST) not in names:
        st.session_state[REQUEST] = names[0] if names else None
    name: str | None = st.selectbox("Request", names, key=REQUEST, placeholder="none", width=110)
    return name


def show_about_one(places: Sequence[DeltaGenerator], session: Session, name: str | None) -> None:
    """The actions that are about one request."""
    for place, label, asked, foresee in zip(
        places,
        ("Decode one token", "Fork", "Finish"),
        (asked_decode, asked_fork, asked_finish),
        (partial(before_decode, token=typed_token()), before_fork, before_finish),
        strict=True,
    ):
        foreseen = "" if name is None else f"{name} {foresee(session, name)}"
        show_button(place, label, asked, foreseen, disabled=name is None)


def show_button(
    place: DeltaGenerator,
    label: str,
    asked: Callable[[], Action],
    foreseen: str,
    *,
    disabled: bool = False,
) -> None:
    """The button of an action, and below it what will be checked when it is pressed."""
    place.button(
        label, on_click=press, args=(asked,), disabled=disabled, width="stretch", key=label
    )
    place.text(foreseen)  # it may repeat what was typed: no Markdown


def press(asked: Callable[[], Action]) -> None:
    """Do what is asked by now."""
    action = asked()
    act(action)
    is_typed = isinstance(action, DecodeToken) and action.token is not None
    st.session_state[TRIED] = is_typed and notice() is None


# What is asked when a button is pressed: by what the fields hold then, which may be newer than the
# page on which the button was drawn.


def asked_new() -> Action:
    """A new request with the prompt of the field."""
    return NewRequest(typed(st.session_state[PROMPT]))


def asked_decode() -> Action:
    """One token, the typed one or the model's."""
    return DecodeToken(chosen_number(), typed_token())


def typed_token() -> str | None:
    """The token of the field, or None for the model's choice."""
    return typed(st.session_state[TOKEN]) or None


def asked_fork() -> Action:
    """A fork of the chosen request."""
    return Fork(chosen_number())


def asked_finish() -> Action:
    """The end of the chosen request."""
    return Finish(chosen_number())


def chosen_number() -> int:
    """The number of the request that the next action is about."""
    return number_of(st.session_state[REQUEST])
