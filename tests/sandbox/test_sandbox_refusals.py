"""A refused action is a frame that says so, and leaves everything else as it was."""

import pytest
from hypothesis import given
from sandbox_scripts import RELAXED, Play, scripts

from pagedkv.events import RequestRefused
from pagedkv.sandbox.actions import DecodeToken, EngineStep, Finish, Fork, NewRequest, number_of
from pagedkv.sandbox.foresee import before_decode
from pagedkv.sandbox.script import Pool, Script

SIX = NewRequest("ROMEO:")


@pytest.mark.parametrize(
    ("pool", "actions"),
    [
        (Pool(4, 4), (NewRequest("ROME"),)),
        (Pool(4, 8), (SIX, Fork(1))),
        (Pool(32, 256), (NewRequest("a" * 128), *[EngineStep()] * 128)),
    ],
    ids=["no block", "no block for a copy", "at the model's context"],
)
def test_a_token_that_was_typed_does_not_stay_when_it_is_refused(play: Play, pool, actions):
    session = play(Script(pool, actions))
    before = session.recorder.state()
    typed = next(c for c in "xy" if c != before.requests[0].pending_token)
    session.do(DecodeToken(1, typed))
    assert session.recorder.frames[-1].state == before


def refusals(frame) -> list[RequestRefused]:
    return [event for event in frame.events if isinstance(event, RequestRefused)]


@pytest.mark.parametrize(
    ("pool", "actions", "refusal"),
    [
        (Pool(4, 12), (SIX, SIX), RequestRefused("R2", 2, 1, 3, "wait")),
        (Pool(4, 4), (SIX,), RequestRefused("R1", 2, 1, 1, "never fits")),
        (Pool(4, 16), (SIX, SIX, SIX, EngineStep()), RequestRefused("R3", 2, 0, 4, "wait")),
    ],
    ids=["a new request waits", "a new request never fits", "the first in the queue waits on"],
)
def test_a_refused_admission_is_announced_in_its_frame(play: Play, pool, actions, refusal):
    session = play(Script(pool, actions))
    assert refusals(session.recorder.frames[-1]) == [refusal]
    assert (refusal.request in session.waiting) == (refusal.reason == "wait")


def test_whom_memory_does_not_refuse_is_no_refusal(play: Play):
    behind = play(Script(Pool(4, 12), (SIX, SIX, NewRequest("a"))))
    came_in = play(Script(Pool(4, 12), (SIX, SIX, Finish(1), EngineStep())))
    assert refusals(behind.recorder.frames[-1]) == refusals(came_in.recorder.frames[-1]) == []


@RELAXED
@given(scripts())
def test_a_refusal_says_what_is_so(play: Play, script: Script):
    session = play(script)
    for frame in session.recorder.frames:
        for refusal in refusals(frame):
            assert refusal.needed > refusal.free == frame.state.totals.free_blocks
            assert refusal.total == len(frame.state.blocks)


def told_never(frame) -> bool:
    return "can never go on" in f"{frame.title} {frame.caption}"


@pytest.mark.parametrize("action", [DecodeToken(1), EngineStep()], ids=["decode", "step"])
def test_who_can_never_go_on_is_not_told_to_wait(play: Play, action):
    session = play(Script(Pool(4, 4), (NewRequest("ROME"), action)))
    frame = session.recorder.frames[-1]
    assert told_never(frame) and "wait." not in frame.caption
    assert [refusal.reason for refusal in refusals(frame)] == ["never fits"]
    assert "never fits" in before_decode(session, "R1")


@RELAXED
@given(scripts())
def test_wait_and_never_are_told_apart_as_the_engine_does(play: Play, script: Script):
    session = play(script)
    for frame in session.recorder.frames:
        running = {request.name for request in frame.state.requests}
        never = {r.request for r in refusals(frame) if r.reason == "never fits"}
        assert told_never(frame) == (not never.isdisjoint(running))
    for name in session.running:
        foreseen = before_decode(session, name)
        then = session.copy()
        then.do(DecodeToken(number_of(name)))
        assert ("never fits" in foreseen) == told_never(then.recorder.frames[-1])
