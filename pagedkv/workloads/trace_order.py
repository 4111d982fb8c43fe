"""Which rows stand out of the order of arrival: as few as can be."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise


def out_of_order(arrivals: Sequence[float]) -> list[tuple[int, int]]:
    """Rows without which all others never go back in time: the fewest for which that is so.

    So one row with a wrong clock costs one row, wherever its arrival would belong. Where several
    choices are as few, the earlier rows stay. Each row [from 0] comes with a row that stays and
    shows it to be wrong: one before it that is later, or one behind it that is earlier.
    """
    if all(before <= after for before, after in pairwise(arrivals)):
        return []
    lengths = _lengths(arrivals)
    wanted = max(lengths)
    last = -1  # the row that stayed last
    pending: list[int] = []  # rows that are too late for what follows; it is not known yet
    wrong: list[tuple[int, int]] = []
    for row, (arrival, length) in enumerate(zip(arrivals, lengths, strict=True)):
        if last >= 0 and arrival < arrivals[last]:
            wrong.append((row, last))
        elif length == wanted:
            wrong += [(late, row) for late in pending]
            pending = []
            last, wanted = row, wanted - 1
        else:
            pending.append(row)
    return sorted(wrong)


def _lengths(arrivals: Sequence[float]) -> list[int]:
    """How many rows, from each one on and with it, can stay if it does."""
    # [length - 1]: the latest arrival, negated so that it ascends, at which that many rows begin
    heads: list[float] = []
    lengths = [0] * len(arrivals)
    for row in range(len(arrivals) - 1, -1, -1):
        head = -arrivals[row]
        before = bisect_right(heads, head)
        heads[before : before + 1] = [head]
        lengths[row] = before + 1
    return lengths
