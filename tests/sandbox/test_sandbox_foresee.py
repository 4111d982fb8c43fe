"""What is said before an action is what the action then does."""

import re

from hypothesis import given
from sandbox_scripts import RELAXED, Play, scripts

from pagedkv.events import BlockAllocated, BlockCopied, BlockFreed, RequestRefused
from pagedkv.sandbox.actions import DecodeToken, Finish, Fork, NewRequest, number_of
from pagedkv.sandbox.foresee import (
    before_decode,
    before_finish,
    before_fork,
    before_new,
    before_step,
)
from pagedkv.sandbox.script import MAX_ALIVE, Pool, Script


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
        "needs 5 blocks, the pool has 3 blocks: it will be refused"
    )
    session.do(new)
    assert before_new(session, "R") == "needs 1 block, 1 is free: it will wait behind R2"
    many = play(Script(Pool(1, 256), (NewRequest("R"),) * MAX_ALIVE))
    assert before_new(many, "R") == before_fork(many, "R1")
    assert (
        before_new(many, "R") == "12 requests are alive, the most there can be: it will be refused"
    )


def test_before_a_step_everybody_is_named(play: Play):
    new = NewRequest("ROMEO:")
    session = play(Script(Pool(4, 20), (new, Fork(1), new, new)))
    assert before_step(session) == (
        "1 block free; asked in turn: R1: a copy, R2: a copy, R3: none; "
        "then R4 from the queue, 2 blocks"
    )
    assert before_step(play(Script())) == "nobody to go on with"
    assert "will be refused" in before_decode(session, "R4") and "queue" in before_finish(
        session, "R4"
    )
