"""Play a frame's events on the board of the frame before: what must come out is the frame's board.

Tables, ref counts, the free list with its order and the stored counts are kept as plain dicts and
lists; an event that does not fit them is an AssertionError.
"""

from dataclasses import dataclass, field

from pagedkv.events import (
    AttentionComputed,
    BlockAllocated,
    BlockCopied,
    BlockFreed,
    Event,
    RefCountChanged,
    RequestAdmitted,
    RequestFinished,
    RequestForked,
    RequestRefused,
    SlotsWritten,
    TableChanged,
    TokenSelected,
)
from pagedkv.trace.state import State


@dataclass
class Board:
    """What events can change, by request name and block id."""

    block_size: int
    free: list[int]
    tables: dict[str, list[int]] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    ref_counts: dict[int, int] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    pending: dict[str, str] = field(default_factory=dict)

    def knows(self, event: Event) -> bool:
        """Whether the event can have happened on this board: a name is admitted once a pool."""
        return not (isinstance(event, RequestAdmitted) and event.request in self.tables)

    def play(self, event: Event) -> None:
        match event:
            case RequestAdmitted(request=name, num_blocks=num_blocks):
                assert num_blocks <= len(self.free)
                self.tables[name], self.stored[name] = [], 0
                self.waiting = [other for other in self.waiting if other != name]
            case RequestRefused(request=name, needed=needed, free=free, unit="blocks"):
                assert needed > free == len(self.free)
                self._let_wait(name)
            case RequestRefused(request=name, unit="slots"):
                self._let_wait(name)
            case BlockAllocated(block_id=block_id):
                assert block_id == self.free.pop(0)
                self.ref_counts[block_id] = 1
            case TableChanged(request=name, logical_block=i, before=before, block_id=block_id):
                self._change_table(self.tables[name], i, before, block_id)
            case RefCountChanged(block_id=block_id, before=before, after=after):
                assert self.ref_counts[block_id] == before
                self.ref_counts[block_id] = after
            case BlockFreed(block_id=block_id):
                assert self.ref_counts.pop(block_id) == 0
                self.free.insert(0, block_id)
            case RequestForked(parent=parent, child=child, num_blocks=num_blocks):
                assert num_blocks == len(self.tables[parent])
                self.tables[child] = list(self.tables[parent])
                self.stored[child] = self.stored[parent]
            case RequestFinished(request=name):
                del self.tables[name], self.stored[name]
                self.pending.pop(name, None)
            case SlotsWritten(request=name, slots=slots, positions=positions):
                self._write(name, slots, positions)
            case BlockCopied(source=source, destination=destination):
                assert self.ref_counts[source] >= 1 and self.ref_counts[destination] == 1
            case AttentionComputed(request=name, context_len=context_len):
                assert context_len == self.stored[name]
            case TokenSelected(request=name, token=token):
                self.pending[name] = token

    def _let_wait(self, name: str) -> None:
        """Whoever holds blocks already is being served, and waits for nothing but its next one."""
        if name not in (*self.tables, *self.waiting):
            self.waiting.append(name)

    def _change_table(self, table: list[int], i: int, before: int | None, block_id: int) -> None:
        if before is None:
            assert i == len(table)
            table.append(block_id)
        else:
            assert table[i] == before
            table[i] = block_id

    def _write(self, name: str, slots: tuple[int, ...], positions: tuple[int, ...]) -> None:
        table, b = self.tables[name], self.block_size
        assert positions == tuple(range(self.stored[name], positions[-1] + 1))
        assert slots == tuple(table[p // b] * b + p % b for p in positions)
        assert all(self.ref_counts[slot // b] == 1 for slot in slots)
        if self.stored[name] > 0:
            del self.pending[name]  # it is what was written
        self.stored[name] = positions[-1] + 1


def assert_same(board: Board, state: State) -> None:
    """The board that was played must be the one that was shown."""
    assert {r.name: list(r.block_table) for r in state.requests} == board.tables
    assert {r.name: r.num_stored for r in state.requests} == board.stored
    counts = {b.block_id: b.ref_count for b in state.blocks if b.ref_count}
    assert counts == {b: count for b, count in board.ref_counts.items() if count}
    assert list(state.free_blocks) == board.free
    assert list(state.waiting) == board.waiting
    for request in state.requests:
        # An appended token has its slot and is pending no more; no event says so.
        is_appended = request.num_tokens > request.num_stored
        expected = None if is_appended else board.pending.get(request.name)
        assert request.pending_token == expected
