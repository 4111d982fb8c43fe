"""Where a reservation goes: what every way of choosing a place can do, and the simplest of them.

A placement knows which slots of a region are free, and nothing of requests. ``FirstFit`` takes
exactly as many slots as are asked for, from the first hole that is large enough. ``Buddy``, in a
file of its own, deals in powers of two.
"""

from bisect import insort
from dataclasses import dataclass
from typing import Protocol

from pagedkv.checks import require_whole_number


@dataclass(frozen=True, slots=True)
class Hole:
    """``size`` free slots in a row, from slot ``start`` on."""

    start: int
    size: int

    @property
    def stop(self) -> int:
        """The first slot behind the hole."""
        return self.start + self.size


class Placement(Protocol):
    """Free slots of a region; a stretch that can be taken is one hole's, never a part of two."""

    @property
    def capacity(self) -> int:
        """All slots, taken or free."""

    @property
    def holes(self) -> tuple[Hole, ...]:
        """The free stretches by place; each can be taken whole."""

    @property
    def longest(self) -> int:
        """The most slots in a row that can be taken when all are free."""

    def take(self, size: int) -> int | None:
        """Take at least ``size`` slots in a row: the first of them, or None if there is no room."""

    def give_back(self, start: int, size: int) -> None:
        """Give back what ``take(size)`` took from slot ``start`` on."""


class FirstFit:
    """The first hole that is large enough, and not a slot more than asked for.

    >>> placement = FirstFit(24)
    >>> placement.take(20), placement.take(6), placement.holes
    (0, None, (Hole(start=20, size=4),))
    """

    def __init__(self, capacity: int) -> None:
        require_whole_number("capacity", capacity, least=0)
        self._capacity = capacity
        self._holes = [Hole(0, capacity)] if capacity else []  # by place

    @property
    def capacity(self) -> int:
        """All slots, taken or free."""
        return self._capacity

    @property
    def holes(self) -> tuple[Hole, ...]:
        """The free stretches by place, neighbours joined."""
        return tuple(self._holes)

    @property
    def longest(self) -> int:
        """The most slots in a row that can be taken when all are free: all of them."""
        return self._capacity

    def take(self, size: int) -> int | None:
        """Take ``size`` slots from the front of the first hole that has them, else None."""
        for index, hole in enumerate(self._holes):
            if hole.size >= size:
                left = Hole(hole.start + size, hole.size - size)
                self._holes[index : index + 1] = [left] if left.size else []
                return hole.start
        return None

    def give_back(self, start: int, size: int) -> None:
        """Give ``size`` slots back, and join them with the free ones on either side."""
        insort(self._holes, Hole(start, size), key=lambda hole: hole.start)
        joined: list[Hole] = []
        for hole in self._holes:
            if joined and joined[-1].stop == hole.start:
                joined[-1] = Hole(joined[-1].start, joined[-1].size + hole.size)
            else:
                joined.append(hole)
        self._holes = joined
