"""A view that grew with its session, frame by frame, is the view of the whole."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from sandbox_scripts import RELAXED, Play, scripts

from pagedkv.model import CharGPT
from pagedkv.player.view import GrowingView, player_json
from pagedkv.sandbox.actions import EngineStep, Finish, Fork, NewRequest
from pagedkv.sandbox.script import Pool, Script
from pagedkv.sandbox.session import Session
from pagedkv.sandbox.words import BOOK

LANES = (NewRequest("RO"), Fork(1), Finish(1), NewRequest("JU"), Finish(2), EngineStep(), Fork(3))


def grown(script: Script, model: CharGPT) -> list[str]:
    """The view's text after each action, each from a copy of the view before."""
    session = Session(script.pool, model)
    view = GrowingView(BOOK, session.trace())
    texts = [view.text(session.trace())]
    for action in script.actions:
        session.do(action)
        view = view.copy()
        texts.append(view.text(session.trace()))
    return texts


@RELAXED
@given(scripts())
def test_it_is_the_view_of_the_whole(play: Play, small_model: CharGPT, script: Script):
    texts = grown(script, small_model)
    assert texts[-1] == player_json(play(script).trace(), BOOK)


def test_requests_that_come_and_go_keep_their_lanes(play: Play, small_model: CharGPT):
    script = Script(Pool(4, 40), LANES)
    texts = grown(script, small_model)
    assert texts[-1] == player_json(play(script).trace(), BOOK)
    frames: list[Any] = [json.loads(text)["frames"] for text in texts]
    for earlier, later in pairwise(frames):
        assert later[: len(earlier)] == earlier


def test_a_copy_leaves_the_view_before_as_it_was(play: Play, small_model: CharGPT):
    short, long = Script(actions=LANES[:2]), Script(actions=LANES)
    view = GrowingView(BOOK, play(short).trace())
    before = view.text(play(short).trace())
    view.copy().text(play(long).trace())
    assert view.text(play(short).trace()) == before
