"""What a learner may do in the sandbox, as plain values.

Requests go by number: the n-th request that was asked for or forked, from 1, whatever came of it.
So a list of actions means the same in every pool, and says nothing about what the engine answers.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewRequest:
    """Ask for a new request with this prompt."""

    prompt: str


@dataclass(frozen=True, slots=True)
class DecodeToken:
    """Let a request process one token: its pending one, or ``token`` in its place."""

    request: int
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Fork:
    """Start another request from all that ``request`` has stored."""

    request: int


@dataclass(frozen=True, slots=True)
class Finish:
    """End a request, or take it out of the queue."""

    request: int


@dataclass(frozen=True, slots=True)
class EngineStep:
    """Let every running request decode one token, and waiting ones in as there is room."""


Action = NewRequest | DecodeToken | Fork | Finish | EngineStep


def name_of(request: int) -> str:
    """What request number ``request`` is called on the board."""
    return f"R{request}"


def number_of(name: str) -> int:
    """The number of the request that is called so on the board."""
    return int(name.removeprefix("R"))
