"""Paged blocks, counted: what ``BlockManager`` would do, without giving any block a number.

Thousands of requests take hundreds of thousands of blocks, and a simulation asks only how many.
All running requests store one token an iteration, so whoever fills a last block now will do so
again ``block_size`` iterations later: it is enough to count how many sequences do so in which
iteration. ``tests/workloads/test_paging_twin.py`` drives a ``BlockManager`` beside this and finds
the same free blocks and the same preemptions after every iteration.
"""

from heapq import heapify, heappop, heappush
from itertools import count

from pagedkv.layout import ceil_div, pool_size
from pagedkv.workloads.running import Running
from pagedkv.workloads.usage import Usage
from pagedkv.workloads.workload import Request


class PagedMemory:
    """``num_slots`` slots as blocks of ``block_size``; a prompt's full blocks are shared.

    Slots that make no whole block are external: they can never be given.
    """

    def __init__(self, num_slots: int, block_size: int, num_answers: int) -> None:
        self._num_slots = num_slots
        self._block_size = block_size
        self._num_answers = num_answers
        self._num_blocks = pool_size(num_slots, block_size).num_blocks
        self._free = self._num_blocks
        self._takers = [0] * block_size  # [iteration % block_size] -> sequences that take a block
        self._num_sequences = 0
        # `stored` at iteration 0, if each running answer is traced back at one slot an iteration:
        # stored(now) = this + now × sequences.
        self._stored_at_0 = 0
        self._saved_blocks = 0  # that would be held without sharing, and are not
        self._never_filled = 0  # slots of last blocks behind the last position
        self._last_blocks: list[tuple[int, int, Running]] = []  # by iteration in which it is taken
        self._in_last_block: set[Running] = set()
        self._ties = count()

    @property
    def num_blocks(self) -> int:
        """All blocks of the pool, free or in use."""
        return self._num_blocks

    @property
    def num_free_blocks(self) -> int:
        """How many blocks can be given now."""
        return self._free

    def could_hold(self, request: Request) -> bool:
        """Whether the whole pool has the blocks that its answers hold in the end."""
        return self._blocks(request, request.num_positions) <= self._num_blocks

    def grow(self, now: int) -> bool:
        """Give a block to every sequence whose last one is full; if too few are free, to none."""
        takers = self._takers[now % self._block_size]
        if takers > self._free:
            return False
        self._free -= takers
        while self._last_blocks and self._last_blocks[0][0] <= now:
            self._enter_last_block(heappop(self._last_blocks)[2])
        return True

    def admit(self, running: Running) -> bool:
        """Give a request the blocks of its prompt, and of what it had generated before."""
        request, stored = running.request, running.stored_then
        needed = self._blocks(request, stored)
        if needed > self._free:
            return False
        self._free -= needed
        self._count(running, 1)
        # The last block is taken when the first position in it is stored.
        first_in_it = (ceil_div(request.num_positions, self._block_size) - 1) * self._block_size + 1
        if stored >= first_in_it:
            self._enter_last_block(running)
        else:
            taken = running.admitted + first_in_it - stored
            heappush(self._last_blocks, (taken, next(self._ties), running))
        return True

    def release(self, running: Running, now: int) -> None:
        """Take back what it held in the iteration before ``now``."""
        self._free += self._blocks(running.request, running.stored(now - 1))
        self._count(running, -1)
        if running in self._in_last_block:
            self._in_last_block.remove(running)
            self._never_filled -= self._waste(running.request)
        else:
            self._last_blocks = [entry for entry in self._last_blocks if entry[2] is not running]
            heapify(self._last_blocks)

    def iterations_until_growth(self, now: int) -> int | None:
        """In how many iterations after ``now`` a sequence needs a block; None if none runs."""
        for iterations in range(1, self._block_size + 1):
            if self._takers[(now + iterations) % self._block_size]:
                return iterations
        return None

    def usage(self, now: int) -> Usage:
        """Shared slots count once. ``reserved`` is the empty slots that will be filled."""
        held = (self._num_blocks - self._free) * self._block_size
        stored = self._stored_at_0 + now * self._num_sequences
        return Usage(
            num_slots=self._num_slots,
            stored=stored,
            reserved=held - stored - self._never_filled,
            internal=self._never_filled,
            unshared=held + self._saved_blocks * self._block_size,
            growth=self._num_sequences,
        )

    def _blocks(self, request: Request, stored: int) -> int:
        return blocks_of_answers(request.num_inputs, stored, self._num_answers, self._block_size)

    def _waste(self, request: Request) -> int:
        """Slots behind the last position, in the last blocks of all answers."""
        return self._num_answers * (-request.num_positions % self._block_size)

    def _shared(self, request: Request) -> int:
        return shared_blocks(request.num_inputs, self._block_size)

    def _enter_last_block(self, running: Running) -> None:
        self._in_last_block.add(running)
        self._never_filled += self._waste(running.request)

    def _count(self, running: Running, sign: int) -> None:
        answers = sign * self._num_answers
        shared = self._shared(running.request)
        self._num_sequences += answers
        # Position p is stored p - stored_then + admitted iterations from the start; it takes a
        # block if it is a multiple of the block size.
        self._takers[(running.admitted - running.stored_then + 1) % self._block_size] += answers
        self._stored_at_0 += answers * (running.stored_then - running.admitted)
        self._stored_at_0 -= (answers - sign) * shared * self._block_size
        self._saved_blocks += (answers - sign) * shared


def shared_blocks(num_inputs: int, block_size: int) -> int:
    """Count the full blocks of a prompt: those that several answers can share unchanged."""
    return num_inputs // block_size


def blocks_of_answers(
    num_inputs: int, num_positions: int, num_answers: int, block_size: int
) -> int:
    """Count the blocks of ``num_answers`` answers with ``num_positions`` slots filled in each.

    The prompt's full blocks are there once, everything behind them for each answer.

    >>> blocks_of_answers(6, 9, 2, 4)
    5
    """
    shared = shared_blocks(num_inputs, block_size)
    return shared + num_answers * (ceil_div(num_positions, block_size) - shared)
