"""The buddy allocator: slots in chunks that are powers of two, split in halves and joined again.

Whoever asks for 300 slots gets a chunk of 512. A chunk that is too large is halved until it is just
large enough; when both halves of a chunk are free again, they become one. That makes joining
cheap, and loses what lies between the size asked for and the next power of two.

Method: Knowlton 1965, A Fast Storage Allocator (CACM 8). Orca's reservations are modelled on it in
the paper on PagedAttention (Kwon et al. 2023, section 6.1).
"""

from bisect import insort
from collections import defaultdict

from pagedkv.checks import require_whole_number
from pagedkv.contiguous_placement import Hole


def power_of_two_for(size: int) -> int:
    """The smallest power of two that is at least ``size``, which is at least 1.

    >>> power_of_two_for(5), power_of_two_for(4)
    (8, 4)
    """
    return 1 << (size - 1).bit_length()


def power_of_two_within(size: int) -> int:
    """The largest power of two that is at most ``size``; 0 for 0, which has room for none.

    >>> power_of_two_within(5), power_of_two_within(4), power_of_two_within(0)
    (4, 4, 0)
    """
    return 1 << size.bit_length() >> 1


class Buddy:
    """``capacity`` slots in power-of-two chunks, the largest first; any capacity will do.

    24 slots are a chunk of 16 from slot 0 on and one of 8 from slot 16 on. A chunk stands at a
    multiple of its own size, so its buddy, the other half of the chunk that it was cut from, is
    found by flipping one bit of its address. Of equal chunks the first by place is taken.

    >>> placement = Buddy(24)
    >>> placement.take(5), placement.holes  # the whole chunk of 8 is taken
    (16, (Hole(start=0, size=16),))
    """

    def __init__(self, capacity: int) -> None:
        require_whole_number("capacity", capacity, least=0)
        self._capacity = capacity
        self._free: defaultdict[int, list[int]] = defaultdict(list)  # size -> starts, by place
        start = 0
        while start < capacity:
            size = power_of_two_within(capacity - start)
            self._free[size].append(start)
            start += size

    @property
    def capacity(self) -> int:
        """All slots, taken or free."""
        return self._capacity

    @property
    def holes(self) -> tuple[Hole, ...]:
        """The free chunks by place; neighbours that are no buddies stay two."""
        chunks = (Hole(start, size) for size, starts in self._free.items() for start in starts)
        return tuple(sorted(chunks, key=lambda hole: hole.start))

    @property
    def longest(self) -> int:
        """The most slots in a row that can be taken when all are free: the first chunk."""
        return power_of_two_within(self._capacity)

    def take(self, size: int) -> int | None:
        """Take a chunk of at least ``size`` slots, cut from the smallest that will do; or None."""
        wanted = power_of_two_for(size)
        large_enough = [free for free, starts in self._free.items() if starts and free >= wanted]
        if not large_enough:
            return None
        chunk = min(large_enough)
        start = self._free[chunk].pop(0)
        while chunk > wanted:  # keep the first half, and let the other be free
            chunk //= 2
            insort(self._free[chunk], start + chunk)
        return start

    def give_back(self, start: int, size: int) -> None:
        """Give a chunk back, and join it with its buddy as long as that is free, too."""
        chunk = power_of_two_for(size)
        while (buddy := start ^ chunk) in self._free[chunk]:
            self._free[chunk].remove(buddy)
            start, chunk = min(start, buddy), 2 * chunk
        insort(self._free[chunk], start)
