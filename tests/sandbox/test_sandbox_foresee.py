"""What is said before an action is what the action then does."""

import re

import pytest
from hypothesis import given
from sandbox_scripts import RELAXED, Play, crowded_scripts, scripts

from pagedkv.events import BlockAllocated, BlockCopied, BlockFreed, RequestRefused
from pagedkv.sandbox.actions import DecodeToken, EngineStep, Finish, Fork, NewRequest, number_of
from pagedkv.sandbox.foresee import (
    before_decode,
    before_finish,
    before_fork,
    before_new,
    before_step,
    rehearse_step,
)
from pagedkv.sandbox.script import (
    LONGEST_PROMPT,
    MAX_ACTIONS,
    MAX_ALIVE,
    MAX_PROMPT_CHARACTERS,
    Pool,
    Script,
    ScriptError,
)
from pagedkv.trace.frame import Frame


def number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def kinds(session, kind) -> int:
    return sum(isinstance(event, kind) for event in session.recorder.frames[-1].events)


@RELAXED
@given(scripts())
def test_before_everything_that_one_request_can_do(play: Play, script: Script):
    session = play(script)
    for name in session.running:
        foreseen = before_decode(session, name)
        then = session.copy()
        then.do(DecodeToken(number_of(name)))
        assert ("will be refused" in foreseen) == bool(kinds(then, RequestRefused))
        if "will be refused" not in foreseen:
            assert number(r"needs (\d+) block", foreseen) == kinds(then, BlockAllocated)
            assert ("the copy" in foreseen) == bool(kinds(then, BlockCopied))
        foreseen = before_finish(session, name)
        then = session.copy()
        then.do(Finish(number_of(name)))
        assert number(r"gives back (\d+) block", foreseen) == kinds(then, BlockFreed)
        if len(session.running) + len(session.waiting) < MAX_ALIVE:
            foreseen = before_fork(session, name)
            then = session.copy()
            then.do(Fork(number_of(name)))
            child = then.recorder.frames[-1].state.requests[-1]
            assert number(r"shares (\d+) block", foreseen) == len(child.block_table)
            assert kinds(then, BlockAllocated) == 0


@RELAXED
@given(scripts())
def test_before_a_new_request(play: Play, script: Script):
    session = play(script)
    foreseen = before_new(session, "ROMEO:")
    if not session.is_full:
        needed = number(r"needs (\d+) block", foreseen)
        assert needed == -(-6 // script.pool.block_size)
    behind, alive = session.waiting, {*session.running, *session.waiting}
    session.do(NewRequest("ROMEO:"))
    came = {*session.running, *session.waiting} - alive
    assert ("will be refused" in foreseen) == (not came)
    assert ("will wait" in foreseen) == (not came.isdisjoint(session.waiting))
    assert ("will" not in foreseen) == bool(kinds(session, BlockAllocated))
    for name in behind[-1:]:
        assert f"will wait behind {name}" in foreseen or not came


def test_before_a_new_request_where_it_is_refused_for_good_and_where_it_waits(play: Play):
    new = NewRequest("ROMEO:")
    session = play(Script(Pool(4, 12), (new,)))
    assert before_new(session, "R") == "needs 1 block, 1 is free"
    assert before_new(session, "ROMEO:") == "needs 2 blocks, 1 is free: it will wait"
    assert before_new(session, "ROMEO:" * 3) == (
        "needs 5 blocks, the pool has 3 blocks: it never fits and will be refused"
    )
    session.do(new)
    assert before_new(session, "R") == "needs 1 block, 1 is free: it will wait behind R2"
    many = play(Script(Pool(1, 256), (NewRequest("R"),) * MAX_ALIVE))
    assert before_new(many, "R") == before_fork(many, "R1")
    assert (
        before_new(many, "R") == "12 requests are alive, the most there can be: it will be refused"
    )


@RELAXED
@given(scripts() | crowded_scripts())
def test_before_a_step_it_is_said_what_comes_of_everybodys_turn(play: Play, script: Script):
    session = play(script)
    foreseen, text = rehearse_step(session), before_step(session)
    before, waiting = session.recorder.frames[-1].state, session.waiting
    session.do(EngineStep())
    frame = session.recorder.frames[-1]
    assert copied_in(frame) == foreseen.copied
    admitted = [name for name in waiting if name in session.running]
    assert admitted == foreseen.admitted
    taken = [event.request for event in frame.events if isinstance(event, BlockAllocated)]
    assert [name for name in taken if name not in (*foreseen.copied, *admitted)] == foreseen.grown
    grew = [r.name for r in before.requests if tokens_of(frame, r.name) > r.num_tokens]
    assert grew == foreseen.going_on
    refused = [event.request for event in frame.events if isinstance(event, RequestRefused)]
    held = [foreseen.no_memory.request] if foreseen.no_memory else []
    assert refused == [*(refusal.request for refusal in foreseen.refused), *held]
    for name in (*foreseen.going_on, *admitted, *refused):
        assert name in text
    assert (foreseen.over_budget is not None) == ("more than the 128" in frame.caption)


def copied_in(frame: Frame) -> list[str]:
    return [event.request for event in frame.events if isinstance(event, BlockCopied)]


def tokens_of(frame: Frame, name: str) -> int:
    return next(r.num_tokens for r in frame.state.requests if r.name == name)


def test_before_a_step_everybody_is_named(play: Play):
    new = NewRequest("ROMEO:")
    session = play(Script(Pool(4, 20), (new, Fork(1), new, new)))
    assert before_step(session) == (
        "1 block free; in turn: R1: a copy; R2, R3: none; R4: waits on, needs 2 of 0 free"
    )
    assert before_step(play(Script())) == "nobody to go on with"
    assert "will be refused" in before_decode(session, "R4") and "queue" in before_finish(
        session, "R4"
    )


def test_before_a_step_the_token_budget_is_named_too(play: Play):
    many = NewRequest("a" * 100)
    session = play(Script(Pool(32, 256), (many, many, many, Finish(1), Finish(2))))
    session.do(NewRequest("b" * 100))
    assert session.waiting == ("R3", "R4")
    assert "R3: let in from the queue; R4: waits on, too many inputs" in before_step(session)
    session.do(EngineStep())
    frame = session.recorder.frames[-1]
    assert "R4, next in the queue, has 100 inputs; with the 100 here" in frame.caption
    assert frame.check is not None and frame.check.request == "R4" and frame.check.fits


def test_who_never_fits_is_told_so(play: Play):
    session = play(Script(Pool(4, 4), (NewRequest("ROME"),)))
    assert before_decode(session, "R1").endswith(
        "needs 1 block, 0 are free: it will be refused, for it never fits"
    )
    assert "R1: never fits" in before_step(session)
    session.do(DecodeToken(1))
    frame = session.recorder.frames[-1]
    assert frame.title == "R1 can never go on" and "wait" not in frame.title
    assert [e.reason for e in frame.events if isinstance(e, RequestRefused)] == ["never fits"]
    session.do(EngineStep())
    assert "can never go on" in session.recorder.frames[-1].caption


def test_what_the_model_does_not_know_and_where_it_ends_is_said_before(play: Play):
    session = play(Script(Pool(32, 256), (NewRequest("a" * 128), *[EngineStep()] * 128)))
    assert "does not know" in before_new(session, "7")
    assert "does not know" in before_decode(session, "R1", "7")
    assert "whole context: it will be refused" in before_decode(session, "R1")
    assert "R1: at the context's end" in before_step(session)


def test_after_the_last_action_every_button_says_so(play: Play):
    session = play(Script(Pool(), (NewRequest("RO"), *[DecodeToken(1)] * (MAX_ACTIONS - 1))))
    for text in (
        before_new(session, "R"),
        before_decode(session, "R1"),
        before_fork(session, "R1"),
        before_finish(session, "R1"),
        before_step(session),
    ):
        assert text == "200 actions are done, the most there can be: take some back first"


def test_what_no_script_takes_is_named_before(play: Play):
    session = play(Script(Pool(), (NewRequest("RO"),)))
    assert (
        before_new(session, "<b>7") == "the model does not know '7', '<', '>': nothing will be done"
    )
    assert before_new(session, "a" * 129) == (
        "129 characters, and a prompt has 128 at most: nothing will be done"
    )
    assert before_decode(session, "R1", "7") == (
        "cannot go on with '7', which the model does not know: nothing will be done"
    )
    assert before_decode(session, "R1", "ab") == (
        "cannot go on with 'ab', since a token is one character: nothing will be done"
    )
    assert "needs no block" in before_decode(session, "R1", "\n")


def test_before_a_prompt_that_is_too_much_for_a_session(play: Play):
    longest = NewRequest("a" * LONGEST_PROMPT)
    script = Script(Pool(4, 4), (longest,) * (MAX_PROMPT_CHARACTERS // LONGEST_PROMPT - 1))
    session = play(script)
    assert "never fits" in before_new(session, longest.prompt)
    session.do(NewRequest("ROMEO:"))
    assert before_new(session, longest.prompt) == (
        "all prompts of a session have 4096 characters at most, and 122 are left: "
        "nothing will be done"
    )
    assert "never fits" in before_new(session, "a" * 122)
    with pytest.raises(ScriptError, match="4102 characters in all"):
        script.then(NewRequest("ROMEO:")).then(longest)


def test_before_a_step_it_is_said_that_who_runs_comes_first(play: Play):
    rome = NewRequest("ROME")
    session = play(Script(Pool(4, 8), (rome, rome, rome)))
    said = "0 blocks free; in turn: R1, R2: no block left"
    assert before_step(session) == f"{said}; nobody comes in"
    session.do(Finish(3))
    assert before_step(session) == said
