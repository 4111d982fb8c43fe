"""Where a server keeps its visitors' generations: so many bytes in all, the newest ones.

A session holds a number; what is behind it may have been given up for others by the time that it
is asked for. Nothing is lost by that: the same choices bring the same run back.
"""

from collections import OrderedDict
from itertools import count
from threading import Lock

from pagedkv.checks import require_whole_number
from pagedkv.generate.kept import Kept


class Shelf:
    """Keeps at most ``max_bytes`` of packed runs, and the newest one however large it is."""

    def __init__(self, max_bytes: int) -> None:
        require_whole_number("max_bytes", max_bytes, least=0)
        self._max_bytes = max_bytes
        self._kept: OrderedDict[int, Kept] = OrderedDict()
        self._numbers = count(1)
        self._lock = Lock()

    def __len__(self) -> int:
        """How many runs are kept."""
        return len(self._kept)

    def put(self, kept: Kept) -> int:
        """Keep a run; return the number to ask for it by. Older ones may have to go."""
        with self._lock:
            number = next(self._numbers)
            self._kept[number] = kept
            while len(self._kept) > 1 and self._num_bytes() > self._max_bytes:
                self._kept.popitem(last=False)
            return number

    def get(self, number: int) -> Kept | None:
        """The run with this number, which thereby counts as used last, or None if it is gone."""
        with self._lock:
            if number in self._kept:
                self._kept.move_to_end(number)
            return self._kept.get(number)

    def remove(self, number: int) -> None:
        """Give a run up; one that is gone already is no mistake."""
        with self._lock:
            self._kept.pop(number, None)

    def _num_bytes(self) -> int:
        return sum(len(kept.packed) for kept in self._kept.values())
