"""The board heads each request with its own prompt, however long, and a fork with its parent's."""

from sandbox_scripts import Play

from pagedkv.player import player_data
from pagedkv.sandbox.actions import EngineStep, Fork, NewRequest
from pagedkv.sandbox.script import Pool, Script
from pagedkv.sandbox.words import BOOK
from pagedkv.trace.as_json import trace_to_dict

SCRIPT = Script(
    Pool(4, 64), (NewRequest("To be, or"), NewRequest("I"), Fork(1), EngineStep(), EngineStep())
)


def test_every_request_is_headed_by_its_own_prompt(play: Play):
    data = player_data(play(SCRIPT).trace(), BOOK)
    for frame in data["frames"][3:]:
        shown = [data["groups"][place]["prompt"] for place in frame["groups"]]
        assert shown == ["To␣be,␣or", "I", "To␣be,␣or"]


def test_a_trace_as_json_does_not_say_where_prompts_end(play: Play):
    last = trace_to_dict(play(SCRIPT).trace())["frames"][-1]
    assert "prompt_length" not in last["state"]["requests"][0]
