"""What the engine will check before an action, in words, so that one can predict what comes.

Every function asks the session and changes nothing. Where an action gives blocks, it is played on
a copy of the block manager, so what is said is what the engine would do.
"""

from collections.abc import Iterator

from pagedkv.block_manager import AppendPlan
from pagedkv.checks import named
from pagedkv.engine import ContextFullError
from pagedkv.layout import empty_slots
from pagedkv.memory_check import admission_check, append_check
from pagedkv.narration import plural
from pagedkv.refusals import OutOfBlocks
from pagedkv.sandbox.script import (
    LONGEST_PROMPT,
    MAX_ACTIONS,
    MAX_ALIVE,
    MAX_PROMPT_CHARACTERS,
    unknown_characters,
)
from pagedkv.sandbox.session import Session
from pagedkv.sandbox.turns import Giver, Turns, take_turns
from pagedkv.trace.frame import Check

_FULL = f"{MAX_ALIVE} requests are alive, the most there can be: it will be refused"
_WAITING = "is waiting and has nothing stored: it will be refused"
_NO_MORE = f"{MAX_ACTIONS} actions are done, the most there can be: take some back first"
_NOTHING = "nothing will be done"  # no script takes it, so the engine is not asked


def before_new(session: Session, prompt: str) -> str:
    """What will be asked about a new request with this prompt, in the order in which it is."""
    if _is_over(session):
        return _NO_MORE
    if not prompt:
        return "A prompt of at least one character."
    if problem := _problem_of_prompt(session, prompt):
        return f"{problem}: {_NOTHING}"
    if session.is_full:
        return _FULL
    engine = session.recorder.engine
    check = admission_check(engine, "new", len(prompt))
    if check.needed > engine.cache.num_blocks:
        whole = _count(engine.cache.num_blocks, "block")
        needs = f"needs {_count(check.needed, 'block')}, the pool has {whole}"
        return f"{needs}: it never fits and will be refused"
    if session.waiting:
        return f"{_numbers(check)}: it will wait behind {session.waiting[-1]}"
    return _numbers(check) + ("" if check.fits else ": it will wait")


def before_decode(session: Session, name: str, token: str | None = None) -> str:
    """What will be asked about a request's next token: the model's choice, or a typed one."""
    if _is_over(session):
        return _NO_MORE
    if name in session.waiting:
        return _WAITING
    engine = session.recorder.engine
    check = append_check(engine, name)
    if token is not None and (problem := _problem_of_token(token)):
        return f"cannot go on with {problem}: {_NOTHING}"
    if check.position >= engine.model.config.context:
        whole = _count(engine.model.config.context, "position")
        return f"has {whole}, the model's whole context: it will be refused"
    last = engine.cache.block_table(name)[-1]
    if check.copies:
        others = engine.cache.ref_count(last) - 1
        return f"shares P{last} with {others}: the copy {_numbers(check)}{_verdict(session, check)}"
    if not check.needed:
        return f"has {_count(check.empty_in_last_block, 'empty slot')} in P{last}: needs no block"
    return f"has no empty slot: {_numbers(check)}{_verdict(session, check)}"


def before_fork(session: Session, name: str) -> str:
    """What a fork of a request will do."""
    if _is_over(session):
        return _NO_MORE
    if name in session.waiting:
        return _WAITING
    if session.is_full:
        return _FULL
    cache = session.recorder.engine.cache
    shared = _count(len(cache.block_table(name)), "block")
    if not empty_slots(cache.num_tokens(name), cache.block_size):
        return f"shares {shared}; the last is full"
    return f"shares {shared}; who writes first copies the last"


def before_finish(session: Session, name: str) -> str:
    """What will come back when a request ends."""
    if _is_over(session):
        return _NO_MORE
    if name in session.waiting:
        return "leaves the queue; it holds no block"
    cache = session.recorder.engine.cache
    table = cache.block_table(name)
    stay = sum(cache.ref_count(block_id) > 1 for block_id in table)
    kept = f", {stay} shared with others {'stays' if stay == 1 else 'stay'}" if stay else ""
    return f"gives back {_count(len(table) - stay, 'block')}{kept}"


def before_step(session: Session) -> str:
    """What one engine step will do, everybody asked in turn."""
    if _is_over(session):
        return _NO_MORE
    if not session.running and not session.waiting:
        return "nobody to go on with"
    free = _count(session.recorder.engine.cache.num_free_blocks, "block")
    turns = rehearse_step(session)
    told = [*_told(turns), *(["nobody comes in"] if turns.refused and session.waiting else [])]
    return f"{free} free; in turn: {'; '.join(told)}"


def rehearse_step(session: Session) -> Turns:
    """What comes of everybody's turn, played on a copy of the block manager."""
    engine = session.recorder.engine
    manager = engine.cache.rehearsal()

    def append(name: str) -> AppendPlan:
        if manager.num_tokens(name) >= engine.model.config.context:
            raise ContextFullError(name)
        return manager.append(name)

    giver = Giver(append, manager.admit)
    return take_turns(session.running, session.queue(), engine.token_budget, giver)


def _told(turns: Turns) -> Iterator[str]:
    for names, what in (
        (turns.grown, "a block each" if len(turns.grown) > 1 else "a block"),
        (turns.copied, "a copy each" if len(turns.copied) > 1 else "a copy"),
        (turns.in_place, "none"),
        ([r.request for r in turns.refused if r.reason == "wait"], "no block left"),
        ([r.request for r in turns.refused if r.reason != "wait"], "never fits"),
        (turns.at_the_end, "at the context's end"),
        (turns.admitted, "let in from the queue"),
    ):
        if names:
            yield f"{', '.join(names)}: {what}"
    if turns.no_memory is not None:
        refusal = turns.no_memory
        yield f"{refusal.request}: waits on, needs {refusal.needed} of {refusal.free} free"
    if turns.over_budget is not None:
        yield f"{turns.over_budget}: waits on, too many inputs for this step"


def _is_over(session: Session) -> bool:
    return session.num_actions >= MAX_ACTIONS


def _problem_of_prompt(session: Session, prompt: str) -> str:
    """Why a session's script cannot take a prompt; empty if it can."""
    if len(prompt) > LONGEST_PROMPT:
        return f"{len(prompt)} characters, and a prompt has {LONGEST_PROMPT} at most"
    left = MAX_PROMPT_CHARACTERS - session.num_prompt_characters
    if len(prompt) > left:
        most = f"all prompts of a session have {MAX_PROMPT_CHARACTERS} characters at most"
        return f"{most}, and {left} {'is' if left == 1 else 'are'} left"
    unknown = unknown_characters(prompt)
    return f"the model does not know {unknown}" if unknown else ""


def _problem_of_token(token: str) -> str:
    """What is typed, and why it can be nobody's next token; empty if it can."""
    if len(token) != 1:
        return f"{named(token)}, since a token is one character"
    unknown = unknown_characters(token)
    return f"{unknown}, which the model does not know" if unknown else ""


def _numbers(check: Check) -> str:
    are = "is" if check.free == 1 else "are"
    return f"needs {_count(check.needed, 'block')}, {check.free} {are} free"


def _verdict(session: Session, check: Check) -> str:
    """Whether a running request finds its block; if not, whether it ever will."""
    if check.fits:
        return ""
    try:
        session.recorder.engine.cache.rehearsal().append(check.request)
    except OutOfBlocks as refusal:
        if refusal.reason == "never fits":
            return ": it will be refused, for it never fits"
    return ": it will be refused"


def _count(number: int, noun: str) -> str:
    return f"{number} {plural(noun, number)}"
