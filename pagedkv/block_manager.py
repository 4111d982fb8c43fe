"""Who holds which block: requests, block tables, and the decision to copy before a write.

The manager keeps one block table a request over one ``BlockPool``. It decides where K and V will
stand and touches no tensor: ``append`` answers with a plan, and whoever owns the tensors carries it
out. Allocating is not storing.

Three rules do all the work:

- A block is taken before a position is written, if the request has no last block with an empty
  slot. So four positions fill one block of four, and the fifth takes the second. How long a
  request may become is never asked.
- A write into a block that others share (ref count > 1) goes to a fresh copy instead:
  copy-on-write. Only a last block with an empty slot can be written, so a full one is never copied.
- A command first counts what it needs, then either does all of it or refuses and changes nothing.

Questions (``can_*``, ``blocks_needed_to_*`` and all that returns a value) never change anything.
What happened is announced as events, once it is done.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass

from pagedkv.block_pool import BlockPool
from pagedkv.checks import require_name, require_whole_number
from pagedkv.events import (
    BlockAllocated,
    BlockFreed,
    Event,
    Listener,
    RefCountChanged,
    RequestAdmitted,
    RequestFinished,
    RequestForked,
    RequestRefused,
    TableChanged,
    ignore,
)
from pagedkv.invariants import violations
from pagedkv.layout import Location, blocks_needed, locate, slot_mapping
from pagedkv.refusals import OutOfBlocks


@dataclass(frozen=True, slots=True)
class AppendPlan:
    """What to do in memory after an ``append``: first the copies, then the writes.

    ``copies`` holds (source, destination) block ids, one pair at most; ``slots`` the flat slot of
    each new position, ``positions`` those positions within the request, in the same order.
    ``new_blocks`` are the block ids put at the end of the table.
    """

    copies: tuple[tuple[int, int], ...]
    slots: tuple[int, ...]
    positions: tuple[int, ...]
    new_blocks: tuple[int, ...]


@dataclass(slots=True)
class _Request:
    """What the manager remembers of a request; ``block_table[i]`` holds logical block i."""

    block_table: list[int]
    num_tokens: int


class BlockManager:
    """Block tables of named requests over ``num_blocks`` blocks of ``block_size`` slots each.

    ``free_order`` is the initial order of the free list, by default 0, 1, 2…. A pool of 0 blocks is
    legal: every admission "never fits". Wrong numbers, unknown names and names taken raise
    ValueError; no room raises ``OutOfBlocks``. Either way nothing has changed. ``on_event`` hears
    of a command after it is done; if it raises, the command stands.
    """

    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        free_order: Sequence[int] | None = None,
        *,
        on_event: Listener = ignore,
    ) -> None:
        require_whole_number("block_size", block_size, least=1)
        self._pool = BlockPool(num_blocks, free_order)
        self._block_size = block_size
        self._requests: dict[str, _Request] = {}  # by name, in order of arrival
        self._on_event = on_event

    # Questions about the pool

    @property
    def num_blocks(self) -> int:
        """All blocks of the pool, free or in use."""
        return self._pool.num_blocks

    @property
    def block_size(self) -> int:
        """Slots in a block."""
        return self._block_size

    @property
    def num_free_blocks(self) -> int:
        """How many blocks can be given now."""
        return self._pool.num_free

    @property
    def free_blocks(self) -> tuple[int, ...]:
        """The free block ids in the order in which they will be given."""
        return self._pool.free_blocks

    def ref_count(self, block_id: int) -> int:
        """Count the table entries that point to this block; 0 means free."""
        return self._pool.ref_count(block_id)

    # Questions about a request

    @property
    def requests(self) -> tuple[str, ...]:
        """The names of all requests, in order of arrival."""
        return tuple(self._requests)

    def num_tokens(self, name: str) -> int:
        """Count the positions that the request has been given slots for."""
        return self._request(name).num_tokens

    def block_table(self, name: str) -> tuple[int, ...]:
        """Physical block ids by logical block: exactly as many as the positions need."""
        return tuple(self._request(name).block_table)

    def locate(self, name: str, position: int) -> Location:
        """Find the logical block, offset, physical block and flat slot of one position."""
        request = self._request(name)
        require_whole_number("position", position, least=0, most=request.num_tokens - 1)
        return locate(position, request.block_table, self._block_size)

    # Admission: a new request

    def blocks_needed_to_admit(self, num_tokens: int) -> int:
        """Count the blocks for a new request of ``num_tokens`` positions."""
        require_whole_number("num_tokens", num_tokens, least=1)
        return blocks_needed(num_tokens, self._block_size)

    def can_admit(self, num_tokens: int) -> bool:
        """Whether enough blocks are free for a new request's input, however long its answer."""
        return self.blocks_needed_to_admit(num_tokens) <= self.num_free_blocks

    def admit(self, name: str, num_tokens: int) -> None:
        """Give a new request blocks for its first ``num_tokens`` positions; nothing is stored yet.

        Raises OutOfBlocks if too few are free; ValueError if the name is taken.
        """
        self._require_new(name)
        needed = self.blocks_needed_to_admit(num_tokens)
        self._require_free(name, needed, num_tokens)

        block_table = self._take(needed)
        self._requests[name] = _Request(block_table, num_tokens)
        self._announce(RequestAdmitted(name, num_tokens, needed), *_grown(name, 0, block_table))

    # Growth: more positions for a request

    def blocks_needed_to_append(self, name: str, n: int = 1) -> int:
        """Count the free blocks that ``n`` more positions take, a copy-on-write included."""
        request = self._request(name)
        require_whole_number("n", n, least=1)
        blocks_after = blocks_needed(request.num_tokens + n, self._block_size)
        return blocks_after - len(request.block_table) + int(self._must_copy(request))

    def can_append(self, name: str, n: int = 1) -> bool:
        """Whether enough blocks are free for ``n`` more positions."""
        return self.blocks_needed_to_append(name, n) <= self.num_free_blocks

    def append(self, name: str, n: int = 1) -> AppendPlan:
        """Give the request slots for ``n`` more positions and say what to do in memory.

        Raises OutOfBlocks if too few blocks are free: then not one of the ``n`` has a slot.
        """
        request = self._request(name)
        needed = self.blocks_needed_to_append(name, n)
        positions = range(request.num_tokens, request.num_tokens + n)
        self._require_free(name, needed, num_tokens=positions.stop)

        copies = [self._copy_last(request)] if self._must_copy(request) else []
        first_new = len(request.block_table)
        new_blocks = self._take(needed - len(copies))
        request.block_table += new_blocks
        request.num_tokens += n

        slots = slot_mapping(positions, request.block_table, self._block_size)
        self._announce(
            *self._copied(name, first_new - 1, copies), *_grown(name, first_new, new_blocks)
        )
        return AppendPlan(tuple(copies), slots, tuple(positions), tuple(new_blocks))

    # Sharing and ending

    def fork(self, parent: str, child: str) -> None:
        """Start ``child`` from all of ``parent``'s positions, sharing every block; takes none."""
        request = self._request(parent)
        self._require_new(child)
        for block_id in request.block_table:
            self._pool.share(block_id)
        self._requests[child] = _Request(list(request.block_table), request.num_tokens)

        self._announce(
            RequestForked(parent, child, len(request.block_table)),
            *(self._count_changed(block_id, by=+1) for block_id in request.block_table),
        )

    def free(self, name: str) -> None:
        """End a request. Its blocks go back, except those that others share; nothing is erased.

        They go back last block first, so that its first block is the next one given.
        """
        request = self._request(name)
        del self._requests[name]
        events: list[Event] = [RequestFinished(name)]
        for block_id in reversed(request.block_table):
            self._pool.release(block_id)
            events.append(self._count_changed(block_id, by=-1))
            if self.ref_count(block_id) == 0:
                events.append(BlockFreed(block_id))
        self._announce(*events)

    # Trying out

    def rehearsal(self) -> "BlockManager":
        """Another manager in the same state, heard by nobody: to see what commands would do."""
        twin = BlockManager(self.num_blocks, self._block_size)
        twin._pool = deepcopy(self._pool)
        twin._requests = deepcopy(self._requests)
        return twin

    # What must always be true

    def check(self) -> list[str]:
        """Say in words what is wrong: nothing, unless there is a bug. Looks at every block."""
        tables = {name: request.block_table for name, request in self._requests.items()}
        num_tokens = {name: request.num_tokens for name, request in self._requests.items()}
        return violations(self._pool, tables, num_tokens, self._block_size)

    # Inside

    def _request(self, name: str) -> _Request:
        require_name("name", name)
        if name not in self._requests:
            known = ", ".join(self._requests) or "none"
            raise ValueError(f"name must be that of a request (now: {known}), got {name!r}")
        return self._requests[name]

    def _require_new(self, name: str) -> None:
        require_name("name", name)
        if name in self._requests:
            raise ValueError(f"name must be new, and there is a request {name!r}")

    def _require_free(self, name: str, needed: int, num_tokens: int) -> None:
        """Refuse unless ``needed`` blocks are free for the request to reach ``num_tokens``."""
        free, total = self.num_free_blocks, self.num_blocks
        if needed <= free:
            return
        blocks_after = blocks_needed(num_tokens, self._block_size)
        refusal = OutOfBlocks(name, needed, free, total, blocks_after)
        self._announce(RequestRefused(name, needed, free, total, refusal.reason))
        raise refusal

    def _must_copy(self, request: _Request) -> bool:
        """Whether the next write goes into a last block that another request shares."""
        has_empty_slot = request.num_tokens < len(request.block_table) * self._block_size
        return has_empty_slot and self.ref_count(request.block_table[-1]) > 1

    def _copy_last(self, request: _Request) -> tuple[int, int]:
        """Put a fresh block in the place of the shared last one, which its other owners keep."""
        source = request.block_table[-1]
        destination = self._pool.take()
        self._pool.release(source)
        request.block_table[-1] = destination
        return source, destination

    def _take(self, count: int) -> list[int]:
        return [self._pool.take() for _ in range(count)]

    def _announce(self, *events: Event) -> None:
        """Tell the listener. Called last, when everything is consistent again."""
        for event in events:
            self._on_event(event)

    def _copied(
        self, name: str, logical_block: int, copies: list[tuple[int, int]]
    ) -> Iterator[Event]:
        """Say that a table entry moved from a shared block to a fresh one."""
        for source, destination in copies:
            yield BlockAllocated(name, logical_block, destination)
            yield TableChanged(name, logical_block, source, destination)
            yield self._count_changed(source, by=-1)

    def _count_changed(self, block_id: int, by: int) -> RefCountChanged:
        after = self.ref_count(block_id)
        return RefCountChanged(block_id, after - by, after)


def _grown(name: str, first_new: int, new_blocks: list[int]) -> Iterator[Event]:
    """Say that fresh blocks stand at the end of a table, from logical block ``first_new`` on."""
    for logical_block, block_id in enumerate(new_blocks, start=first_new):
        yield BlockAllocated(name, logical_block, block_id)
        yield TableChanged(name, logical_block, None, block_id)
