"""Index arithmetic: from a position to its block, its offset and its slot, and back.

Everything else that speaks of addresses comes back to these few lines. One request, 7 positions,
block size 4, block table [3, 0]:

    position         0   1   2   3   4   5   6
    logical block    L0  L0  L0  L0  L1  L1  L1      position // 4
    offset           0   1   2   3   0   1   2       position %  4
    physical block   P3  P3  P3  P3  P0  P0  P0      block_table[logical block]
    flat slot        12  13  14  15  0   1   2       physical block * 4 + offset

Pure functions of whole numbers: this module knows no pool, no request and no tensor. A position
counts from 0 within its request, a flat slot from 0 within the pool.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pagedkv.checks import require_whole_number


@dataclass(frozen=True, slots=True)
class LogicalPlace:
    """Where a position stands in its request's own order."""

    logical_block: int
    offset: int


@dataclass(frozen=True, slots=True)
class PhysicalPlace:
    """Where a slot stands in the pool."""

    block_id: int
    offset: int


@dataclass(frozen=True, slots=True)
class Location:
    """One look-up from end to end: position → L and offset → P → flat slot."""

    position: int
    logical_block: int
    offset: int
    block_id: int
    flat_slot: int


@dataclass(frozen=True, slots=True)
class PoolSize:
    """What a capacity makes: whole blocks, and the remainder that belongs to none."""

    num_blocks: int
    unusable_slots: int


def ceil_div(numerator: int, denominator: int) -> int:
    """Divide whole numbers and round up.

    >>> ceil_div(6, 4), ceil_div(8, 4), ceil_div(9, 4)
    (2, 2, 3)
    """
    return -(-numerator // denominator)


def pool_size(capacity: int, block_size: int) -> PoolSize:
    """Cut a memory of ``capacity`` slots into whole blocks.

    >>> pool_size(24, 4)
    PoolSize(num_blocks=6, unusable_slots=0)
    >>> pool_size(24, 5)
    PoolSize(num_blocks=4, unusable_slots=4)
    """
    require_whole_number("capacity", capacity, least=0)
    require_whole_number("block_size", block_size, least=1)
    return PoolSize(*divmod(capacity, block_size))


def blocks_needed(num_tokens: int, block_size: int) -> int:
    """Count the blocks that hold ``num_tokens`` positions.

    Eight positions fill two blocks of four to the brim; only the ninth needs a third.

    >>> [blocks_needed(n, 4) for n in (0, 1, 4, 5, 8, 9)]
    [0, 1, 1, 2, 2, 3]
    """
    require_whole_number("num_tokens", num_tokens, least=0)
    require_whole_number("block_size", block_size, least=1)
    return ceil_div(num_tokens, block_size)


def empty_slots(num_tokens: int, block_size: int) -> int:
    """Count the slots of the last block that no position has taken yet, always < ``block_size``.

    >>> [empty_slots(n, 4) for n in (5, 6, 7, 8, 9)]
    [3, 2, 1, 0, 3]
    """
    require_whole_number("num_tokens", num_tokens, least=0)
    require_whole_number("block_size", block_size, least=1)
    return -num_tokens % block_size


def split_position(position: int, block_size: int) -> LogicalPlace:
    """Find a position's logical block and its offset in it: quotient and remainder.

    >>> split_position(6, 4)
    LogicalPlace(logical_block=1, offset=2)
    """
    require_whole_number("position", position, least=0)
    require_whole_number("block_size", block_size, least=1)
    return LogicalPlace(*divmod(position, block_size))


def flat_slot(block_id: int, offset: int, block_size: int) -> int:
    """Number a slot through the whole pool.

    >>> flat_slot(11, 3, 4)
    47
    """
    require_whole_number("block_id", block_id, least=0)
    require_whole_number("block_size", block_size, least=1)
    require_whole_number("offset", offset, least=0, most=block_size - 1)
    return block_id * block_size + offset


def split_slot(slot: int, block_size: int) -> PhysicalPlace:
    """Find the physical block and the offset of a flat slot: ``flat_slot`` backwards.

    >>> split_slot(47, 4)
    PhysicalPlace(block_id=11, offset=3)
    """
    require_whole_number("slot", slot, least=0)
    require_whole_number("block_size", block_size, least=1)
    return PhysicalPlace(*divmod(slot, block_size))


def locate(position: int, block_table: Sequence[int], block_size: int) -> Location:
    """Look a position up: divide, read one table entry, multiply and add.

    >>> locate(6, [3, 0], block_size=4)
    Location(position=6, logical_block=1, offset=2, block_id=0, flat_slot=2)
    """
    require_whole_number("block_size", block_size, least=1)
    require_whole_number("position", position, least=0, most=len(block_table) * block_size - 1)
    place = split_position(position, block_size)
    block_id = block_table[place.logical_block]
    slot = flat_slot(block_id, place.offset, block_size)
    return Location(position, place.logical_block, place.offset, block_id, slot)


def slot_mapping(positions: range, block_table: Sequence[int], block_size: int) -> tuple[int, ...]:
    """Look many positions up at once and keep only their flat slots.

    >>> slot_mapping(range(2, 7), [3, 0], block_size=4)
    (14, 15, 0, 1, 2)
    """
    require_whole_number("block_size", block_size, least=1)
    num_slots = len(block_table) * block_size
    require_whole_number("positions.start", positions.start, least=0)
    require_whole_number("positions.stop", positions.stop, least=0, most=num_slots)
    return tuple(block_table[p // block_size] * block_size + p % block_size for p in positions)
