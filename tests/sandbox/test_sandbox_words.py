"""What the sandbox says: each outcome in its own words, every number a fact, no slip of grammar."""

import pytest
from hypothesis import given
from lesson_citations import digit_runs, evaluate, slips_of_grammar
from sandbox_scripts import RELAXED, Play, scripts

from pagedkv.events import RequestRefused
from pagedkv.sandbox.actions import DecodeToken, EngineStep, Finish, Fork, NewRequest, name_of
from pagedkv.sandbox.script import MAX_ALIVE, Pool, Script
from pagedkv.trace.as_json import trace_to_dict

SIX = NewRequest("ROMEO:")
NAMES = [name_of(number) for number in range(1, 50)]


@RELAXED
@given(scripts())
def test_every_number_in_a_caption_is_a_fact(play: Play, script: Script):
    trace = trace_to_dict(play(script).trace())
    for frame in trace["frames"]:
        values = {str(fact["value"]) for fact in frame["facts"]}
        cited = {run for value in values for run in digit_runs(value, NAMES)}
        assert digit_runs(frame["caption"], NAMES) <= cited, frame["caption"]
        assert slips_of_grammar(frame["caption"]) == []
        for fact in frame["facts"]:
            assert evaluate(fact["path"], frame, trace["config"]) == fact["value"]


CASES = {
    "An empty pool": ((), Pool()),
    "No block at all": ((), Pool(32, 4)),
    "R1 comes in": ((SIX,), Pool()),
    "R2 has to wait": ((SIX, SIX), Pool(4, 12)),
    "R3 waits its turn": ((SIX, SIX, NewRequest("a")), Pool(4, 12)),
    "R1 can never fit": ((SIX,), Pool(4, 4)),
    "Too many at once": ((NewRequest("a"),) * (MAX_ALIVE + 1), Pool(1, 40)),
    "R1 goes on in its last block": ((SIX, DecodeToken(1)), Pool()),
    "R1 takes a block": ((NewRequest("ROME"), DecodeToken(1)), Pool()),
    "R2 copies, then writes": ((SIX, Fork(1), DecodeToken(2)), Pool()),
    "No block for R1": ((NewRequest("ROME"), NewRequest("ROME"), DecodeToken(1)), Pool(4, 8)),
    "R1 can never go on": ((NewRequest("ROME"), DecodeToken(1)), Pool(4, 4)),
    "No block for a copy": ((SIX, Fork(1), DecodeToken(2)), Pool(4, 8)),
    "R2 starts from R1": ((SIX, Fork(1)), Pool()),
    "R1 ends": ((SIX, Finish(1)), Pool()),
    "R2 leaves the queue": ((SIX, SIX, Finish(2)), Pool(4, 12)),
    "R2 is still waiting": ((SIX, SIX, Fork(2)), Pool(4, 12)),
    "R1 is not there": ((SIX, Finish(1), DecodeToken(1)), Pool()),
    "One engine step": ((SIX, EngineStep()), Pool()),
    "Nothing to do": ((EngineStep(),), Pool()),
    "Nobody can go on": ((NewRequest("ROME"), EngineStep()), Pool(4, 4)),
}


@pytest.mark.parametrize("title", CASES)
def test_each_outcome_has_its_own_words(play: Play, title: str):
    actions, pool = CASES[title]
    frame = play(Script(pool, actions)).recorder.frames[-1]
    assert frame.title == title


def test_at_the_end_of_the_context(play: Play):
    """A context of 256 is full after a prompt of 128 and as many tokens."""
    actions = (NewRequest("a" * 128), *[EngineStep()] * 128)
    session = play(Script(Pool(32, 256), actions))
    assert session.recorder.frames[-1].state.requests[0].num_tokens == 256
    session.do(DecodeToken(1))
    assert session.recorder.frames[-1].title == "R1 is at its end"
    session.do(EngineStep())
    assert session.recorder.frames[-1].title == "Nobody can go on"
    assert "The model's context ends here for R1." in session.recorder.frames[-1].caption


def test_who_waits_comes_in_with_the_next_step_that_has_room(play: Play):
    session = play(Script(Pool(4, 12), (SIX, SIX, Finish(1), EngineStep())))
    frame = session.recorder.frames[-1]
    assert "R2 came in from the queue" in frame.caption
    assert [request.name for request in frame.state.requests] == ["R2"]


def test_forks_of_one_text_go_on_differently(play: Play):
    session = play(Script(Pool(), (SIX, Fork(1), Fork(1), Fork(2))))
    pending = [request.pending_token for request in session.recorder.frames[-1].state.requests]
    assert len(set(pending)) == 4


def test_forks_differ_from_all_who_are_alive_even_when_others_have_ended(play: Play):
    session = play(Script(Pool(), (SIX, Fork(1), Finish(1), Fork(2), Fork(2))))
    requests = session.recorder.frames[-1].state.requests
    assert len({request.tokens for request in requests}) == 1
    assert len({request.pending_token for request in requests}) == len(requests) == 3


def test_a_refused_token_of_ones_own_is_not_left_pending(play: Play):
    session = play(Script(Pool(4, 8), (NewRequest("ROME"), NewRequest("ROME"))))
    before = session.recorder.frames[-1].state
    session.do(DecodeToken(1, "Z"))
    assert session.recorder.frames[-1].state.requests == before.requests


@pytest.mark.parametrize(("pool", "reason"), [(Pool(4, 12), "wait"), (Pool(4, 4), "never fits")])
def test_a_refused_admission_is_an_event(play: Play, pool: Pool, reason: str):
    first = () if reason == "never fits" else (SIX,)
    frame = play(Script(pool, (*first, SIX))).recorder.frames[-1]
    (event,) = (event for event in frame.events if isinstance(event, RequestRefused))
    assert (event.needed, event.total, event.reason) == (2, pool.capacity // 4, reason)


ROME, LONG = NewRequest("ROME"), NewRequest("a" * 120)
HELD_BACK = {
    "R1 and R2 found no free block; 0 are free. Who is running comes first, so nobody was let "
    "in.": (
        (ROME, ROME, SIX, EngineStep()),
        Pool(4, 8),
    ),
    "R3, next in the queue, needs 2 blocks; 0 are free, so nobody was let in past it.": (
        (SIX, SIX, SIX, NewRequest("a"), EngineStep()),
        Pool(4, 16),
    ),
    "R3, next in the queue, has 120 inputs; with the 120 here that is more than the 128 that one "
    "execution may process.": (
        (NewRequest("a" * 128), LONG, LONG, Finish(1), EngineStep()),
        Pool(1, 240),
    ),
    "Only an end would help. 0 blocks are free, so nobody was let in.": (
        (ROME, ROME, EngineStep()),
        Pool(4, 4),
    ),
}


@pytest.mark.parametrize("reason", HELD_BACK)
def test_what_keeps_the_queue_back_is_said(play: Play, reason: str):
    actions, pool = HELD_BACK[reason]
    frame = play(Script(pool, actions)).recorder.frames[-1]
    assert f"{reason} In the queue: " in frame.caption
    assert slips_of_grammar(frame.caption) == []


def test_where_nobody_waits_nobody_was_kept_back(play: Play):
    caption = play(Script(Pool(4, 8), (ROME, ROME, EngineStep()))).recorder.frames[-1].caption
    assert caption == "No request could go on. R1 and R2 found no free block; 0 are free."
