"""No room: the two refusals of the engine, with their counts and in words.

A refusal is an answer, not an accident: whoever raises one has changed nothing, and the same call
may succeed later ("wait") or never will ("never fits"). This module counts nothing itself.
"""

from pagedkv.events import RefusalReason


class OutOfBlocks(Exception):
    """The pool has too few free blocks for a request.

    ``needed`` blocks are wanted now, ``free`` of ``total`` can be had, and the request would then
    hold ``blocks_after``, those it has included. ``reason`` is "wait" if that many would fit an
    empty pool, else "never fits".
    """

    def __init__(self, request: str, needed: int, free: int, total: int, blocks_after: int) -> None:
        super().__init__(request, needed, free, total, blocks_after)
        self.request = request
        self.needed = needed
        self.free = free
        self.total = total
        self.blocks_after = blocks_after
        self.reason: RefusalReason = "wait" if blocks_after <= total else "never fits"

    def __str__(self) -> str:
        wanted = f"{self.request} needs {_count(self.needed, 'block')}"
        free = _are_free(self.free, self.total)
        if self.reason == "wait":
            return f"{wanted}, {free}: it has to wait"
        in_all = f", {self.blocks_after} in all" if self.blocks_after > self.needed else ""
        return f"{wanted}{in_all}, {free}: it never fits"


class OutOfSlots(Exception):
    """No hole of the contiguous region is large enough for a reservation.

    ``needed`` slots in a row are wanted; ``free`` of ``total`` are free, but no more than
    ``largest_hole`` of them in a row. ``reason`` is "wait" if an empty region would do, which has
    ``longest`` slots in a row (``total`` unless its allocator deals in chunks), else "never fits".
    """

    def __init__(
        self,
        request: str,
        needed: int,
        free: int,
        total: int,
        largest_hole: int,
        longest: int | None = None,
    ) -> None:
        super().__init__(request, needed, free, total, largest_hole, longest)
        self.request = request
        self.needed = needed
        self.free = free
        self.total = total
        self.largest_hole = largest_hole
        self.longest = total if longest is None else longest
        self.reason: RefusalReason = "wait" if needed <= self.longest else "never fits"

    def __str__(self) -> str:
        wanted = f"{self.request} needs {_count(self.needed, 'slot')} in a row"
        if self.reason == "never fits":
            return f"{wanted}, the region has {self.longest}: it never fits"
        scattered = "" if self.largest_hole == self.free else f", {self.largest_hole} in a row"
        return f"{wanted}, {_are_free(self.free, self.total)}{scattered}: it has to wait"


def _count(number: int, noun: str) -> str:
    """Say "1 block", "3 blocks"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _are_free(free: int, total: int) -> str:
    """Say "none of 6 is free", "1 of 6 is free", "3 of 6 are free"."""
    return f"{free or 'none'} of {total} {'is' if free <= 1 else 'are'} free"
