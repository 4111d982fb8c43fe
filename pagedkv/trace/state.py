"""The engine at one moment, frozen: requests, blocks, slots, free list, totals.

Field names are the keys of the trace's JSON (DESIGN §7). Nothing here computes; ``snapshot`` and
``recorder`` fill these types in, player and figures read them.
"""

from dataclasses import dataclass
from typing import Literal

SlotState = Literal["free", "stale", "empty", "stored"]


@dataclass(frozen=True, slots=True)
class SlotView:
    """One slot of one physical block.

    *free*: not owned, never written. *stale*: not owned, old bytes in it; ``position`` and
    ``token`` say whose. *empty*: owned, K and V not stored yet; ``position`` is the one it will
    hold, ``token`` None where unknown. *stored*: K and V of ``position`` are in it.
    """

    state: SlotState
    owners: tuple[str, ...]
    position: int | None
    token: str | None
    written_now: bool


@dataclass(frozen=True, slots=True)
class BlockView:
    """One physical block: its ref count (0 when on the free list) and its slots in order."""

    block_id: int
    ref_count: int
    slots: tuple[SlotView, ...]


@dataclass(frozen=True, slots=True)
class RequestView:
    """One request: ``num_tokens`` positions admitted or appended, ``num_stored`` with K and V.

    ``tokens`` has ``num_tokens`` characters. ``pending_token`` was selected but is not an input
    yet: it is in neither count, and has no slot. ``prompt_length`` of the tokens came with the
    prompt; a fork has its parent's.
    """

    name: str
    tokens: tuple[str, ...]
    num_tokens: int
    num_stored: int
    pending_token: str | None
    block_table: tuple[int, ...]
    prompt_length: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the pool; a shared slot counts once. ``table_entries`` counts every reference."""

    capacity_slots: int
    allocated_slots: int
    stored_slots: int
    empty_slots: int
    free_slots: int
    blocks_in_use: int
    free_blocks: int
    table_entries: int


@dataclass(frozen=True, slots=True)
class State:
    """Everything the board shows. ``free_blocks`` is in the order in which they will be given."""

    requests: tuple[RequestView, ...]
    waiting: tuple[str, ...]
    blocks: tuple[BlockView, ...]
    free_blocks: tuple[int, ...]
    totals: Totals


@dataclass(frozen=True, slots=True)
class ReservationView:
    """One contiguous reservation: slots ``start`` to ``start + reserved``, the first ``stored``."""

    request: str
    start: int
    reserved: int
    stored: int
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContiguousView:
    """The reservation baseline over the same capacity; ``refused`` names who found no room."""

    capacity_slots: int
    reservations: tuple[ReservationView, ...]
    free_slots: int
    refused: tuple[str, ...]
