"""How many blocks a generation holds, execution by execution, beside what it would hold otherwise.

*With sharing* is counted in the real cache. *Without* is what the same answers would need if each
had its own copy of everything. *Reserved* is what an engine without blocks would have set aside for
each answer from the start: prompt and chosen length in one piece, here rounded up to whole blocks
so that all three are counts of the same thing.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pagedkv.layout import blocks_needed


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy-on-write: before ``request`` wrote, P``source`` was copied to P``destination``."""

    request: str
    source: int
    destination: int


@dataclass(frozen=True, slots=True)
class Moment:
    """Right after one execution; ``number`` counts from 1. Everything but ``copies`` in blocks."""

    number: int
    num_inputs: int  # processed in this execution
    shared: int
    unshared: int
    reserved: int
    copies: tuple[Copy, ...]

    @property
    def saved(self) -> int:
        """Blocks that sharing saves."""
        return self.unshared - self.shared

    @property
    def saved_percent(self) -> float:
        """The same as a share of what would be held without sharing."""
        return 100 * self.saved / self.unshared


@dataclass(frozen=True, slots=True)
class Usage:
    """All moments of a generation so far; at least one."""

    block_size: int
    num_answers: int
    reserved_positions: int  # of all answers together
    moments: tuple[Moment, ...]


def unshared_blocks(lengths: Iterable[int], block_size: int) -> int:
    """Count the blocks of requests with these many positions if none shared any.

    >>> unshared_blocks([6, 7, 9], block_size=4)
    7
    """
    return sum(blocks_needed(length, block_size) for length in lengths)
