"""Whose turn it is in one engine step, and what comes of it: the scheduler's rule by itself.

Running requests come first, each with its next token, in the order in which they arrived. One that
finds no block keeps what it has and waits; then nobody is let in from the queue, who would take the
block that it waits for. Else those in the queue follow, first come first served: the first that
does not fit, into the pool or into the execution's token budget, ends the turn for all behind it.

The same rule serves twice: an engine step gives out real blocks, and who wants to know beforehand
plays it on a copy of the block manager.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pagedkv.block_manager import AppendPlan
from pagedkv.engine import ContextFullError
from pagedkv.refusals import OutOfBlocks


@dataclass(frozen=True, slots=True)
class Giver:
    """Who gives blocks: both raise ``OutOfBlocks``, ``append`` also ``ContextFullError``.

    ``append(name)`` is for one position more, ``admit(name, num_tokens)`` for a new request.
    """

    append: Callable[[str], AppendPlan]
    admit: Callable[[str, int], None]


@dataclass(slots=True)
class Turns:
    """What came of everybody's turn: names, in the order in which they were asked."""

    in_place: list[str] = field(default_factory=list)
    grown: list[str] = field(default_factory=list)  # each by one block
    copied: list[str] = field(default_factory=list)  # and wrote into the copy
    refused: list[OutOfBlocks] = field(default_factory=list)  # running ones that found no block
    at_the_end: list[str] = field(default_factory=list)  # of the model's context
    admitted: list[str] = field(default_factory=list)
    going_on: list[str] = field(default_factory=list)
    no_memory: OutOfBlocks | None = None  # of the first in the queue who could not come in
    over_budget: str | None = None  # the same, if it is for its many inputs


def take_turns(
    running: Iterable[str], queue: Mapping[str, int], token_budget: int, giver: Giver
) -> Turns:
    """Give everybody a turn; ``queue`` has the number of inputs of each who waits, in order."""
    turns = Turns()
    for name in running:
        _go_on(name, giver, turns)
    if turns.refused:
        return turns
    room = token_budget - len(turns.going_on)
    for name, num_tokens in queue.items():
        if num_tokens > room:
            turns.over_budget = name
            break
        try:
            giver.admit(name, num_tokens)
        except OutOfBlocks as refusal:
            turns.no_memory = refusal
            break
        turns.admitted.append(name)
        room -= num_tokens
    return turns


def _go_on(name: str, giver: Giver, turns: Turns) -> None:
    try:
        plan = giver.append(name)
    except ContextFullError:
        turns.at_the_end.append(name)
    except OutOfBlocks as refusal:
        turns.refused.append(refusal)
    else:
        turns.going_on.append(name)
        kind = turns.copied if plan.copies else turns.grown if plan.new_blocks else turns.in_place
        kind.append(name)
