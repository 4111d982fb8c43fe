"""Where a server keeps its visitors' generations: so many bytes in all, those used last.

A session holds a key; what is behind it may have been given up for others by the time that it is
asked for. Nothing is lost by that: the same choices bring the same run back. No two runs ever have
one key, not even on two shelves: else a session could open another's run once a shelf is emptied.
"""

from collections import OrderedDict
from threading import Lock
from uuid import uuid4

from pagedkv.checks import require_whole_number
from pagedkv.generate.kept import Kept


class Shelf:
    """Keeps at most ``max_bytes`` of packed runs, and the newest one however large it is."""

    def __init__(self, max_bytes: int) -> None:
        require_whole_number("max_bytes", max_bytes, least=0)
        self._max_bytes = max_bytes
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        """How many runs are kept."""
        return len(self._kept)

    def put(self, kept: Kept) -> str:
        """Keep a run; return the key to ask for it by. Others may have to go."""
        key = uuid4().hex
        with self._lock:
            self._kept[key] = kept
            while len(self._kept) > 1 and self._num_bytes() > self._max_bytes:
                self._kept.popitem(last=False)
            return key

    def get(self, key: str) -> Kept | None:
        """The run with this key, which thereby counts as used last, or None if it is gone."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def remove(self, key: str) -> None:
        """Give a run up; one that is gone already is no mistake."""
        with self._lock:
            self._kept.pop(key, None)

    def _num_bytes(self) -> int:
        return sum(len(kept.packed) for kept in self._kept.values())
