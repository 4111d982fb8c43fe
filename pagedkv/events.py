"""What the engine announces: one frozen dataclass per completed transition.

Events are facts in the past tense. They carry ids and counts, never sentences and never tensors,
and they are announced only when the whole command is done (see ``outbox``): whoever listens may
look at any part of the engine. A listener is a plain callable, ``Listener``; the engine knows
nothing of frames.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

RefusalReason = Literal["wait", "never fits"]


@dataclass(frozen=True, slots=True)
class RequestAdmitted:
    """A new request was given blocks for ``num_tokens`` positions; nothing is stored yet."""

    request: str
    num_tokens: int
    num_blocks: int


@dataclass(frozen=True, slots=True)
class RequestRefused:
    """There was no room: ``needed`` units wanted, ``free`` of ``total`` to be had. Nothing changed.

    ``unit`` is "blocks" in the paged pool and "slots" in the contiguous baseline. ``reason`` is
    "wait" where the request would fit an empty pool, else "never fits".
    """

    request: str
    needed: int
    free: int
    total: int
    reason: RefusalReason
    unit: Literal["blocks", "slots"] = "blocks"


@dataclass(frozen=True, slots=True)
class BlockAllocated:
    """A free block was taken for a request's logical block; its ref count is 1."""

    request: str
    logical_block: int
    block_id: int


@dataclass(frozen=True, slots=True)
class TableChanged:
    """A block table entry was added (``before`` is None) or pointed elsewhere."""

    request: str
    logical_block: int
    before: int | None
    block_id: int


@dataclass(frozen=True, slots=True)
class SlotsWritten:
    """K and V of these flat slots were computed and written, in every layer and head."""

    request: str
    slots: tuple[int, ...]
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockCopied:
    """Copy-on-write: ``source``'s K and V were copied to ``destination``, all layers and heads.

    ``positions`` are the stored positions that the copy carried along.
    """

    request: str
    source: int
    destination: int
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RefCountChanged:
    """The number of table entries that point to a block went from ``before`` to ``after``."""

    block_id: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class RequestForked:
    """``child`` started from ``parent``'s stored positions and shares all ``num_blocks`` blocks."""

    parent: str
    child: str
    num_blocks: int


@dataclass(frozen=True, slots=True)
class BlockFreed:
    """The last reference went: the block is on the free list, its old bytes still in it."""

    block_id: int


@dataclass(frozen=True, slots=True)
class RequestFinished:
    """A request ended and gave up its table."""

    request: str


@dataclass(frozen=True, slots=True)
class TokenSelected:
    """An output was chosen; it is pending: no slot, no KV. ``rank`` 0 is the most likely token."""

    request: str
    token: str
    rank: int


@dataclass(frozen=True, slots=True)
class AttentionComputed:
    """In every layer ``num_queries`` queries attended, the last over ``context_len`` positions."""

    request: str
    num_queries: int
    context_len: int


Event = (
    RequestAdmitted
    | RequestRefused
    | BlockAllocated
    | TableChanged
    | SlotsWritten
    | BlockCopied
    | RefCountChanged
    | RequestForked
    | BlockFreed
    | RequestFinished
    | TokenSelected
    | AttentionComputed
)

Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """The default listener: nobody listens, nothing is paid."""
