"""The pool of physical blocks: which are free, and how many table entries point to each.

A block is free (ref count 0, on the free list) or in use (ref count ≥ 1), never both and never
neither. Three moves are all there is: take a free block, share one in use, release one share.

The free list is a stack: the block that came back last is given first, so whoever watches can tell
which one is next. (vLLM keeps a queue instead, and says ``touch`` for share.) The pool knows no
requests, no positions and no tensors; freeing erases nothing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from pagedkv.checks import is_whole_number, require_whole_number


class BlockPool:
    """``num_blocks`` physical blocks, all free at first; ``free_order`` says which is given first.

    By default that is 0, 1, 2… Raises ValueError if ``num_blocks`` is not a whole number of at
    least 0, or ``free_order`` does not name every block id exactly once.
    """

    def __init__(self, num_blocks: int, free_order: Sequence[int] | None = None) -> None:
        require_whole_number("num_blocks", num_blocks, least=0)
        order = range(num_blocks) if free_order is None else free_order
        _require_permutation(order, num_blocks)
        self._ref_counts = [0] * num_blocks  # [block_id] -> number of table entries
        self._free = list(reversed(order))  # a stack: the last block in the list is given next

    @property
    def num_blocks(self) -> int:
        """All blocks, free or in use."""
        return len(self._ref_counts)

    @property
    def num_free(self) -> int:
        """How many blocks can be taken now."""
        return len(self._free)

    @property
    def free_blocks(self) -> tuple[int, ...]:
        """The free block ids in the order in which they will be given."""
        return tuple(reversed(self._free))

    def ref_count(self, block_id: int) -> int:
        """Count the table entries that point to this block; 0 means free."""
        require_whole_number("block_id", block_id, least=0, most=self.num_blocks - 1)
        return self._ref_counts[block_id]

    def take(self) -> int:
        """Give the next free block, with ref count 1. Raises RuntimeError if none is free."""
        if not self._free:
            raise RuntimeError(f"no block is free: the pool has {self.num_blocks}, all in use")
        block_id = self._free.pop()
        self._ref_counts[block_id] = 1
        return block_id

    def share(self, block_id: int) -> None:
        """Let one more table entry point to a block in use. Raises ValueError if it is free."""
        self._require_in_use(block_id)
        self._ref_counts[block_id] += 1

    def release(self, block_id: int) -> None:
        """Drop one table entry; the last one gone, the block is free again.

        Raises ValueError if the block is free already: no block is ever on the free list twice.
        """
        self._require_in_use(block_id)
        self._ref_counts[block_id] -= 1
        if self._ref_counts[block_id] == 0:
            self._free.append(block_id)

    def check(self) -> list[str]:
        """Say in words what is wrong: nothing, unless there is a bug. Looks at every block."""
        return [*self._wrongly_listed(), *self._lost()]

    def _wrongly_listed(self) -> Iterator[str]:
        for block_id, times in Counter(self._free).items():
            if not 0 <= block_id < self.num_blocks:
                yield f"P{block_id} is on the free list, but the pool has no such block"
            elif self._ref_counts[block_id] != 0:
                yield f"P{block_id} is on the free list with ref count {self._ref_counts[block_id]}"
            if times > 1:
                yield f"P{block_id} is on the free list {times} times"

    def _lost(self) -> Iterator[str]:
        listed = set(self._free)
        for block_id, ref_count in enumerate(self._ref_counts):
            if ref_count < 1 and block_id not in listed:
                yield f"P{block_id} is lost: ref count {ref_count}, not on the free list"

    def _require_in_use(self, block_id: int) -> None:
        if self.ref_count(block_id) == 0:
            raise ValueError(f"block_id must name a block in use, got {block_id}, which is free")


def _require_permutation(order: Sequence[int], num_blocks: int) -> None:
    """Raise ValueError unless ``order`` names each id from 0 to ``num_blocks`` - 1 once."""
    is_list_of_ids = isinstance(order, Sequence) and all(map(is_whole_number, order))
    if not is_list_of_ids or sorted(order) != list(range(num_blocks)):
        raise ValueError(
            f"free_order must name each of the {num_blocks} block ids once, got {order!r}"
        )
