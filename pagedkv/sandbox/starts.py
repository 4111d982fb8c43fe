"""Ready-made beginnings, each a case worth seeing, one click away."""

from dataclasses import dataclass

from pagedkv.model.prompts import PASSAGE_B, PASSAGE_C, PASSAGE_SHARED, prompt
from pagedkv.sandbox.actions import DecodeToken, EngineStep, Finish, Fork, NewRequest
from pagedkv.sandbox.script import Pool, Script

_SIX = 6  # characters of a short prompt: a block and a half at the defaults
_FULL = 8  # two blocks at the defaults


@dataclass(frozen=True, slots=True)
class Start:
    """A session to begin from, and what it shows."""

    title: str
    script: Script


STARTS = (
    Start(
        "Fill the pool",
        Script(
            Pool(),
            (
                NewRequest(prompt(PASSAGE_B, _SIX)),
                NewRequest(prompt(PASSAGE_C, _SIX)),
                NewRequest(prompt(PASSAGE_SHARED, _SIX)),
                NewRequest(prompt(PASSAGE_B, _SIX)),
                EngineStep(),
                EngineStep(),
                EngineStep(),
            ),
        ),
    ),
    Start(
        "Three answers to one prompt",
        Script(
            Pool(),
            (
                NewRequest(prompt(PASSAGE_SHARED, _SIX)),
                Fork(1),
                Fork(1),
                EngineStep(),
                EngineStep(),
            ),
        ),
    ),
    Start(
        "Fork a full block",
        Script(
            Pool(),
            (NewRequest(prompt(PASSAGE_SHARED, _FULL)), Fork(1), DecodeToken(1), DecodeToken(2)),
        ),
    ),
    Start(
        "Fork a fork, then free the parent",
        Script(
            Pool(),
            (NewRequest(prompt(PASSAGE_SHARED, _SIX)), Fork(1), Fork(2), Finish(1), EngineStep()),
        ),
    ),
    Start(
        "Prompt larger than the pool",
        Script(Pool(), (NewRequest(prompt(PASSAGE_B, 30)), NewRequest(prompt(PASSAGE_C, _SIX)))),
    ),
    Start(
        "Block size 1",
        Script(
            Pool(block_size=1),
            (NewRequest(prompt(PASSAGE_B, _SIX)), Fork(1), DecodeToken(1), DecodeToken(2)),
        ),
    ),
)
