"""The paged KV cache: K and V tensors in physical blocks, and the tables that find them.

This is the file to read first. ``BlockManager`` decides in plain Python which block holds what;
here those decisions meet real memory: blocks are copied, slots written and read by the kernels.
Allocating and storing stay two operations. ``admit`` and ``append`` give a position its slot;
``write`` puts K and V there, layer by layer, and ``commit`` declares them stored.

It does not know the model, the characters behind the positions, or the dense reference.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch

import kernels
from kernels.checks import CACHE_DTYPES, MAX_HEAD_DIM
from pagedkv.batch import Batch, Row, make_batch
from pagedkv.block_manager import AppendPlan, BlockManager
from pagedkv.checks import require_whole_number
from pagedkv.events import AttentionComputed, BlockCopied, Listener, SlotsWritten, ignore
from pagedkv.layout import Location
from pagedkv.outbox import Outbox


class NotStoredError(ValueError):
    """A fork was asked for while some of the parent's positions have no K and V yet."""


@dataclass(frozen=True, slots=True)
class CacheConfig:
    """The pool's geometry: what one slot holds, and how many slots there are.

    Raises ValueError for numbers and dtypes that no pool can have.
    """

    num_layers: int
    num_kv_heads: int
    head_dim: int
    block_size: int
    num_blocks: int
    dtype: torch.dtype = torch.float32

    def __post_init__(self) -> None:
        require_whole_number("num_layers", self.num_layers, least=1)
        require_whole_number("num_kv_heads", self.num_kv_heads, least=1)
        require_whole_number("head_dim", self.head_dim, least=1, most=MAX_HEAD_DIM)
        require_whole_number("block_size", self.block_size, least=1)
        require_whole_number("num_blocks", self.num_blocks, least=0)
        if self.dtype not in CACHE_DTYPES:
            raise ValueError(f"dtype must be one of {CACHE_DTYPES}, got {self.dtype}")


@dataclass(frozen=True, slots=True, eq=False)
class Attended:
    """One layer's attention: output and weights, both straight from the kernel.

    ``out`` [rows, num_heads, head_dim] in the cache's dtype; ``weights`` [rows, num_heads,
    max(context_lens)] float32, 0 past each row's own length.
    """

    out: torch.Tensor
    weights: torch.Tensor


class _LaunchOptions(TypedDict, total=False):
    """What a launcher is told beside its tensors; nothing, where the process's choice is right."""

    backend: str


class PagedKVCache:
    """A pool of ``num_blocks`` blocks and the requests that live in it.

    ``k_cache`` and ``v_cache`` are [num_layers, num_blocks, block_size, num_kv_heads, head_dim].
    One block id means the same place in every layer, so one table per request serves them all.
    Never-written slots hold NaN and freed blocks keep their bytes: nothing but the masks in the
    attention kernel protects a reader, and the tests can tell when those fail.

    ``torch_layers`` are layers that the torch backend writes and attends, whatever the process
    chose: where kernels are interpreted, that is many times as fast. Pool and tables are the same.

    Wrong numbers, unknown names and names taken raise ValueError, no room ``OutOfBlocks``; either
    way nothing has changed. ``on_event`` hears of a command after it is done; if it raises, the
    command stands.
    """

    def __init__(
        self,
        config: CacheConfig,
        free_order: Sequence[int] | None = None,
        *,
        torch_layers: Iterable[int] = (),
        on_event: Listener = ignore,
    ) -> None:
        self.config = config
        self._torch_layers = frozenset(torch_layers)
        for layer in self._torch_layers:
            require_whole_number("torch_layers", layer, least=0, most=config.num_layers - 1)
        self._outbox = Outbox(on_event)
        self._manager = BlockManager(
            config.num_blocks, config.block_size, free_order, on_event=self._outbox.put
        )
        self.device = torch.device(kernels.runtime()["device"])
        # [num_layers, num_blocks, block_size, num_kv_heads, head_dim]
        shape = (
            config.num_layers,
            config.num_blocks,
            config.block_size,
            config.num_kv_heads,
            config.head_dim,
        )
        self.k_cache = torch.full(shape, torch.nan, dtype=config.dtype, device=self.device)
        self.v_cache = torch.full_like(self.k_cache, torch.nan)
        self._num_stored: dict[str, int] = {}

    # Space: which slots a request may use.

    def admit(self, name: str, num_tokens: int) -> None:
        """Give a new request blocks for ``num_tokens`` positions. Nothing is stored yet.

        Raises ``OutOfBlocks`` where the pool has not enough free blocks; nothing changes then.
        """
        with self._outbox.until_done():
            self._manager.admit(name, num_tokens)
            self._num_stored[name] = 0

    def append(self, name: str, n: int = 1) -> AppendPlan:
        """Give ``n`` more positions their slots, copying a shared last block before it is written.

        Raises ``OutOfBlocks`` where a needed block is not free; nothing changes then.
        """
        first = self._manager.num_tokens(name)
        with self._outbox.until_done():
            plan = self._manager.append(name, n)
            if plan.copies:
                self._copy_blocks(name, plan.copies, first)
        return plan

    def fork(self, parent: str, child: str) -> None:
        """Let ``child`` start from ``parent``'s positions, sharing every block; nothing is copied.

        Raises ``NotStoredError`` if the parent has positions without K and V: two requests would
        wait for the same write.
        """
        num_tokens = self._manager.num_tokens(parent)
        if self.num_stored(parent) != num_tokens:
            raise NotStoredError(
                f"cannot fork {parent!r}: {self.num_stored(parent)} of its {num_tokens} positions "
                "are stored; run its inputs through the model first"
            )
        with self._outbox.until_done():
            self._manager.fork(parent, child)
            self._num_stored[child] = self._num_stored[parent]

    def free(self, name: str) -> None:
        """End a request. Blocks that nobody else refers to go back to the pool, bytes and all."""
        with self._outbox.until_done():
            self._manager.free(name)
            del self._num_stored[name]

    def num_stored(self, name: str) -> int:
        """How many of a request's positions have their K and V in the pool."""
        self._manager.num_tokens(name)  # an unknown name is the manager's error
        return self._num_stored[name]

    # Contents: K and V on their way in and out.

    def pending_batch(self, names: Iterable[str]) -> Batch:
        """Everything these requests have allocated but not stored, as rows of one execution.

        Requests come in the order given, and positions in their own.
        """
        tables = {name: self._manager.block_table(name) for name in names}
        rows = [row for name in tables for row in self._pending_rows(name)]
        return make_batch(rows, tables, self.config.block_size, self.device)

    def write(self, layer: int, batch: Batch, key: torch.Tensor, value: torch.Tensor) -> None:
        """Put a layer's ``key`` and ``value`` [rows, num_kv_heads, head_dim] into their slots."""
        self._require_layer(layer)
        caches = self.k_cache[layer], self.v_cache[layer]
        kernels.write_slots(key, value, *caches, batch.slot_mapping, **self._options(layer))

    def attend(self, layer: int, batch: Batch, query: torch.Tensor) -> Attended:
        """Attend with ``query`` [rows, num_heads, head_dim] through the rows' block tables.

        A request's rows, if there are several, are one prefill: K and V are read once for all of
        them. The single rows of all other requests are one decode step.
        """
        self._require_layer(layer)
        caches = self.k_cache[layer], self.v_cache[layer]
        options = self._options(layer)
        parts = []
        for rows in batch.prefills:
            last = batch.rows[rows.stop - 1]
            table = batch.block_tables[rows.stop - 1]
            results = kernels.paged_prefill(
                query[rows], *caches, table, last.context_len, return_weights=True, **options
            )
            parts.append((torch.arange(rows.start, rows.stop), results))
        if batch.decodes:
            single = torch.tensor(batch.decodes)
            tables, context_lens = batch.block_tables[single], batch.context_lens[single]
            results = kernels.paged_attention(
                query[single], *caches, tables, context_lens, return_weights=True, **options
            )
            parts.append((single, results))
        longest = max(weights.shape[2] for _, (_, weights) in parts)
        out = torch.empty_like(query)  # [rows, num_heads, head_dim]
        weights = query.new_zeros((*query.shape[:2], longest), dtype=torch.float32)
        for chosen, (own_out, own_weights) in parts:
            out[chosen], weights[chosen, :, : own_weights.shape[2]] = own_out, own_weights
        return Attended(out, weights)

    def commit(self, batch: Batch, *, attended: bool = False) -> None:
        """Declare the rows stored, once every layer has written its K and V.

        ``attended`` says that their queries have attended too, in every layer. Raises ValueError
        unless each request's rows are the next ones that it has to store; nothing changes then.
        """
        own = {name: [batch.rows[i] for i in batch.rows_of(name)] for name in batch.requests}
        for name, rows in own.items():
            pending = self._pending_rows(name)
            if rows != pending[: len(rows)]:
                raise ValueError(
                    f"batch must hold the next of the {len(pending)} rows that {name!r} has to "
                    f"store, from position {self.num_stored(name)} on; got {rows[0]} to {rows[-1]}"
                )
        with self._outbox.until_done():
            for name, rows in own.items():
                self._num_stored[name] = rows[-1].context_len
                slots = tuple(row.slot for row in rows)
                self._outbox.put(SlotsWritten(name, slots, tuple(row.position for row in rows)))
                if attended:
                    self._outbox.put(AttentionComputed(name, len(rows), rows[-1].context_len))

    # Questions about blocks and tables: the manager's answers. Nobody commands it but the cache.

    @property
    def manager(self) -> "PagedKVCache":
        """Who answers the manager's questions to the outside: the cache itself."""
        return self

    @property
    def num_blocks(self) -> int:
        """All blocks of the pool, free or in use."""
        return self._manager.num_blocks

    @property
    def block_size(self) -> int:
        """Slots in a block."""
        return self._manager.block_size

    @property
    def num_free_blocks(self) -> int:
        """How many blocks can be given now."""
        return self._manager.num_free_blocks

    @property
    def free_blocks(self) -> tuple[int, ...]:
        """The free block ids in the order in which they will be given."""
        return self._manager.free_blocks

    def ref_count(self, block_id: int) -> int:
        """Count the table entries that point to this block; 0 means free."""
        return self._manager.ref_count(block_id)

    @property
    def requests(self) -> tuple[str, ...]:
        """The names of all requests, in order of arrival."""
        return self._manager.requests

    def num_tokens(self, name: str) -> int:
        """Count the positions that the request has been given slots for."""
        return self._manager.num_tokens(name)

    def block_table(self, name: str) -> tuple[int, ...]:
        """Physical block ids by logical block: exactly as many as the positions need."""
        return self._manager.block_table(name)

    def locate(self, name: str, position: int) -> Location:
        """Find the logical block, offset, physical block and flat slot of one position."""
        return self._manager.locate(name, position)

    def blocks_needed_to_admit(self, num_tokens: int) -> int:
        """Count the blocks for a new request of ``num_tokens`` positions."""
        return self._manager.blocks_needed_to_admit(num_tokens)

    def can_admit(self, num_tokens: int) -> bool:
        """Whether enough blocks are free for a new request's input, however long its answer."""
        return self._manager.can_admit(num_tokens)

    def blocks_needed_to_append(self, name: str, n: int = 1) -> int:
        """Count the free blocks that ``n`` more positions take, a copy-on-write included."""
        return self._manager.blocks_needed_to_append(name, n)

    def can_append(self, name: str, n: int = 1) -> bool:
        """Whether enough blocks are free for ``n`` more positions."""
        return self._manager.can_append(name, n)

    def check(self) -> list[str]:
        """Say in words what is wrong with tables and pool: nothing, unless there is a bug."""
        return self._manager.check()

    def rehearsal(self) -> BlockManager:
        """A manager in the same state, to see what commands would do: no tensor is touched."""
        return self._manager.rehearsal()

    # Inside

    def _options(self, layer: int) -> _LaunchOptions:
        return {"backend": "torch"} if layer in self._torch_layers else {}

    def _require_layer(self, layer: int) -> None:
        require_whole_number("layer", layer, least=0, most=self.config.num_layers - 1)

    def _pending_rows(self, name: str) -> list[Row]:
        """A request's allocated positions that are not stored, in order."""
        return [
            Row(name, position, self._manager.locate(name, position).flat_slot)
            for position in range(self.num_stored(name), self._manager.num_tokens(name))
        ]

    def _copy_blocks(self, name: str, copies: Sequence[tuple[int, int]], first: int) -> None:
        """Copy K and V of whole blocks, every layer in one call; ``first`` is the next position."""
        pairs = torch.tensor(copies, dtype=torch.int64, device=self.device)  # [n, 2]
        kernels.copy_blocks(self.k_cache, self.v_cache, pairs)
        # Only a request's last block can be both shared and written, so it is the one copied.
        start = first - first % self.config.block_size
        positions = tuple(range(start, first))
        for source, destination in copies:
            self._outbox.put(BlockCopied(name, source, destination, positions))
