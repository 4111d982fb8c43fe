"""A fork goes on another way than all who have the same text, as long as they are alive."""

import pytest
from hypothesis import given
from sandbox_scripts import RELAXED, Play, scripts

from pagedkv.events import TokenSelected
from pagedkv.sandbox.actions import DecodeToken, Finish, Fork, NewRequest, number_of
from pagedkv.sandbox.script import MAX_ALIVE, Pool, Script

SIX = NewRequest("ROMEO:")


def pending_of(session, text: str) -> list[str | None]:
    requests = session.recorder.frames[-1].state.requests
    return [r.pending_token for r in requests if "".join(r.tokens) == text]


@pytest.mark.parametrize(
    "actions",
    [
        (SIX, Fork(1), Fork(1), Fork(2)),
        (SIX, Fork(1), Finish(1), Fork(2)),
        (SIX, Fork(1), Fork(1), Finish(2), Fork(1)),
        (SIX, *[Fork(1)] * (MAX_ALIVE - 1)),
    ],
)
def test_forks_of_one_text_have_different_tokens_pending(play: Play, actions):
    pending = pending_of(play(Script(Pool(4, 64), actions)), "ROMEO:")
    assert len(pending) >= 2
    assert len(set(pending)) == len(pending)


@RELAXED
@given(scripts())
def test_a_fork_takes_the_likeliest_token_that_is_left(play: Play, script: Script):
    session = play(script)
    for name in session.running if not session.is_full else ():
        taken = set(pending_of(session, session.recorder.engine.text(name)))
        then = session.copy()
        then.do(Fork(number_of(name)))
        (selected,) = (e for e in then.recorder.frames[-1].events if isinstance(e, TokenSelected))
        assert selected.token not in taken
        for rank in range(selected.rank):
            assert session.copy().recorder.engine.select(name, rank) in taken


def test_who_has_another_text_takes_no_token_away(play: Play):
    same, other = (SIX, Fork(1), Fork(1)), (SIX, Fork(1), DecodeToken(2), Fork(1))
    ranks = [
        [
            e.rank
            for e in play(Script(Pool(), actions)).recorder.frames[-1].events
            if hasattr(e, "rank")
        ]
        for actions in (same, other)
    ]
    assert ranks == [[2], [1]]
