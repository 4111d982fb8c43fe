"""One engine step: what a scheduler does each turn, with everybody at once (see ``turns.py``)."""

from typing import TYPE_CHECKING

from pagedkv.sandbox import words
from pagedkv.sandbox.turns import Giver, take_turns

if TYPE_CHECKING:  # the session calls this module
    from pagedkv.sandbox.session import Session


def engine_step(session: "Session") -> None:
    """Do one and show its frame; the check in it is that of the last who was asked to come in."""
    stage = session.recorder

    def admit(name: str, num_tokens: int) -> None:
        stage.check_admission(name, num_tokens)
        session.admit(name)

    turns = take_turns(
        session.running,
        session.queue(),
        stage.engine.token_budget,
        Giver(stage.engine.append, admit),
    )
    if turns.over_budget is not None:
        stage.check_admission(turns.over_budget, session.queue()[turns.over_budget])
    inputs = (*turns.going_on, *turns.admitted)
    if inputs:
        stage.execute(*inputs)
        for name in inputs:
            stage.engine.select(name)
    stage.show(words.engine_step(turns, bool(session.waiting)))
