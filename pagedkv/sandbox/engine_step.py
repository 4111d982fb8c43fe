"""One engine step: what a scheduler does each turn, with everybody at once.

Running requests come first, each with its next token, in the order in which they arrived. One that
finds no block keeps what it has and waits; then nobody is let in from the queue, who would take the
block that it waits for. Else those in the queue follow, first come first served: the first that
does not fit, into the pool or into the execution's token budget, ends the turn for all behind it.
"""

from typing import TYPE_CHECKING

from pagedkv.engine import ContextFullError
from pagedkv.sandbox import words

if TYPE_CHECKING:  # the session calls this module
    from pagedkv.sandbox.session import Session


def engine_step(session: "Session") -> None:
    """Do one and show its frame."""
    going_on, stalled, at_the_end = _running(session)
    admitted = [] if stalled else _from_the_queue(session, len(going_on))
    inputs = (*going_on, *admitted)
    if inputs:
        session.recorder.execute(*inputs)
        for name in inputs:
            session.recorder.engine.select(name)
    told = words.engine_step(len(inputs), admitted, stalled, at_the_end, bool(session.waiting))
    session.recorder.show(told)


def _running(session: "Session") -> tuple[list[str], list[str], list[str]]:
    """Give each running request a slot: who got one, who finds no block, who has no position."""
    going_on: list[str] = []
    stalled: list[str] = []
    at_the_end: list[str] = []
    for name in session.running:
        try:
            has_slot = session.recorder.append(name)
        except ContextFullError:
            at_the_end.append(name)
        else:
            (going_on if has_slot else stalled).append(name)
    return going_on, stalled, at_the_end


def _from_the_queue(session: "Session", num_inputs: int) -> list[str]:
    """Admit who waits, in order, for as long as prompts fit into pool and token budget."""
    engine = session.recorder.engine
    room = engine.token_budget - num_inputs
    admitted = []
    while session.waiting:
        name = session.waiting[0]
        prompt = session.prompts[name]
        if len(prompt) > room or not engine.cache.can_admit(len(prompt)):
            break
        session.admit(name, prompt)
        admitted.append(name)
        room -= len(prompt)
    return admitted
