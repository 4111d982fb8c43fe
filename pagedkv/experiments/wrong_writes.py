"""Faults in what is written: a wrong slot, a copy not made. The kernel then reads as it should.

Each replays what the cache did, with one thing changed, in a pool of its own.
"""

from collections.abc import Iterator
from dataclasses import replace

from pagedkv.events import BlockCopied, SlotsWritten
from pagedkv.experiments.faults import Fault, FaultyRead, as_it_should_be
from pagedkv.experiments.replay import replay
from pagedkv.experiments.reports import MINIVLLM_76, XLLM_1984
from pagedkv.experiments.say_positions import say_positions
from pagedkv.experiments.scene import (
    FORK,
    FORKED_AT,
    REQUEST,
    MemoryEvent,
    Scene,
)
from pagedkv.layout import flat_slot, split_slot
from pagedkv.narration import join


def full_block_counted_as_empty(scene: Scene) -> FaultyRead:
    """Write decoded positions to ``block * block_size + num_tokens % block_size - 1``.

    ``num_tokens`` includes the position itself. The remainder is 0, and the slot one before the
    block, exactly where the position fills its block. Prompts went another way and are right.
    """
    events = tuple(_with_remainder(event, scene.block_size) for event in scene.memory_events)
    changed = [
        (wrong.positions[0], own.slots[0], wrong.slots[0])
        for own, wrong in zip(scene.memory_events, events, strict=True)
        if own != wrong and isinstance(own, SlotsWritten) and isinstance(wrong, SlotsWritten)
        if own.request == REQUEST
    ]
    if not changed:
        return as_it_should_be(
            scene,
            f"The formula fails for a position that fills its block, and none of B's decoded "
            f"positions fills one of {scene.block_size}.",
        )
    moved = [_moved(position, own, wrong) for position, own, wrong in changed[:3]]
    more = len(changed) - len(moved)
    account = f"B wrote {join([*moved, f'{more} more likewise'] if more else moved)}."
    return replace(as_it_should_be(scene, account), pools=replay(scene, events))


def copy_missed(scene: Scene) -> FaultyRead:
    """Leave the copy-on-write out: B and its fork both write into the block that they share."""
    copies = [
        event
        for event in scene.memory_events
        if isinstance(event, BlockCopied) and event.request == REQUEST
    ]
    if not copies:
        return as_it_should_be(
            scene,
            f"Nothing was to be copied: {FORK} forked at {FORKED_AT} positions, which fill whole "
            f"blocks of {scene.block_size}.",
        )
    copy = copies[0]
    pools = replay(scene, _without_copy(scene, copy))
    table = tuple(copy.source if block == copy.destination else block for block in scene.table)
    account = (
        f"B and {FORK} both wrote {say_positions(_written_by_both(scene))} into P{copy.source}. "
        f"{FORK} wrote last, so B finds the K and V of another text there."
    )
    return replace(as_it_should_be(scene, account), pools=pools, table=table)


def _written_by_both(scene: Scene) -> range:
    """Positions past the fork that lie in the block that B and its fork shared."""
    block_size, cache = scene.block_size, scene.engine.cache
    behind_block = (FORKED_AT // block_size + 1) * block_size
    return range(FORKED_AT, min(behind_block, cache.num_stored(REQUEST), cache.num_stored(FORK)))


def _moved(position: int, own: int, wrong: int) -> str:
    if wrong < 0:
        return f"position {position} to no slot at all instead of {own}"  # -1: the kernel skips it
    return f"position {position} to slot {wrong} instead of {own}"


def _with_remainder(event: MemoryEvent, block_size: int) -> MemoryEvent:
    """The same event, with the slot of a single decoded position computed by the remainder."""
    if not isinstance(event, SlotsWritten) or len(event.positions) > 1:
        return event
    num_tokens = event.positions[0] + 1
    block_id = split_slot(event.slots[0], block_size).block_id
    return replace(event, slots=(block_id * block_size + num_tokens % block_size - 1,))


def _without_copy(scene: Scene, copy: BlockCopied) -> Iterator[MemoryEvent]:
    """All events but ``copy``; what B wrote into its own new block goes into the shared one."""
    for event in scene.memory_events:
        if event == copy:
            continue
        if isinstance(event, SlotsWritten) and event.request == REQUEST:
            slots = tuple(_redirected(slot, copy, scene.block_size) for slot in event.slots)
            event = replace(event, slots=slots)
        yield event


def _redirected(slot: int, copy: BlockCopied, block_size: int) -> int:
    place = split_slot(slot, block_size)
    if place.block_id != copy.destination:
        return slot
    return flat_slot(copy.source, place.offset, block_size)


WRONG_WRITES = (
    Fault(
        "full-block-counted-as-empty",
        "A slot computed by a remainder",
        "The offset is taken from length % block size, which is 0 and not the block size for a "
        "full block. The token that fills a block lands one slot before it, over somebody's K "
        "and V.",
        MINIVLLM_76,
        full_block_counted_as_empty,
    ),
    Fault(
        "copy-missed",
        "A copy-on-write left out",
        "Two requests share a partly filled block, and both write their next token into it without "
        "a copy. The one that writes first loses its K and V.",
        XLLM_1984,
        copy_missed,
    ),
)
