"""Physical blocks, every label, tag and highlight decided, so that the browser only draws.

Most blocks are the same in frame after frame. So what a description depends on is gathered first,
``BlockFacts``: equal facts give equal data, and who draws many frames describes them once.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pagedkv.events import BlockAllocated, BlockCopied, BlockFreed, Event, RefCountChanged
from pagedkv.player.leftovers import Leftovers
from pagedkv.player.news import news
from pagedkv.player.roster import Roster
from pagedkv.player.text import say
from pagedkv.trace.frame import Frame
from pagedkv.trace.state import BlockView, SlotView
from pagedkv.trace.written import visible

Data = dict[str, Any]

LONG_TAGS = 2  # owners that find room beside a card with their entries written out


@dataclass(frozen=True, slots=True)
class BlockFacts:
    """All that the description of a block depends on, beside who is who.

    ``owners`` are requests with the logical block that it is to them; ``news`` are the events that
    are about it; ``vectors`` and ``leftovers`` have an entry per slot.
    """

    block: BlockView
    vectors: tuple[int | None, ...]
    leftovers: tuple[str | None, ...]
    owners: tuple[tuple[str, int], ...]
    news: tuple[Event, ...]
    is_next: bool


def blocks_facts(frame: Frame, leftovers: Leftovers) -> list[BlockFacts]:
    """Gather what is to be said of every block of the pool, in pool order."""
    owners, about = _owners(frame), _news(frame)
    return [
        BlockFacts(
            block=block,
            vectors=vectors,
            leftovers=tuple(map(leftovers.in_slot, block.slots, vectors)),
            owners=tuple(owners[block.block_id]),
            news=tuple(about[block.block_id]),
            is_next=frame.state.free_blocks[:1] == (block.block_id,),
        )
        for block, vectors in zip(frame.state.blocks, frame.vector_ids, strict=True)
    ]


def _owners(frame: Frame) -> defaultdict[int, list[tuple[str, int]]]:
    """Return the requests whose table points to a block, and as which entry, by block id."""
    owners: defaultdict[int, list[tuple[str, int]]] = defaultdict(list)
    for request in frame.state.requests:
        for logical, block_id in enumerate(request.block_table):
            owners[block_id].append((request.name, logical))
    return owners


def _news(frame: Frame) -> defaultdict[int, list[Event]]:
    """Return the events that are about a block, by block id; of a copy it is the new one."""
    about: defaultdict[int, list[Event]] = defaultdict(list)
    for event in news(frame):
        match event:
            case BlockCopied(destination=block_id):
                about[block_id].append(event)
            case BlockAllocated() | BlockFreed() | RefCountChanged():
                about[event.block_id].append(event)
    return about


def block_data(facts: BlockFacts, roster: Roster) -> Data:
    """Describe a block."""
    block = facts.block
    return {
        "id": block.block_id,
        "ref": block.ref_count,
        "refText": _ref_text(facts),
        "changed": _ref_before(facts) is not None,
        "owners": [[roster.index(name), logical] for name, logical in facts.owners],
        "tags": _tags(facts),
        "free": _place_in_line(facts),
        "origin": _origin(facts) if block.ref_count else "",
        "note": _note(facts),
        "label": _block_label(block, facts.owners),
        "slots": [
            _slot(slot, offset, vector, roster, leftover)
            for offset, (slot, vector, leftover) in enumerate(
                zip(block.slots, facts.vectors, facts.leftovers, strict=True)
            )
        ],
    }


def _tags(facts: BlockFacts) -> list[str]:
    """Name the owners beside the card; of many the first alone says which entry it is to them all.

    Whoever shares a block shares it as the same logical block.
    """
    long = [_entry(*owner) for owner in facts.owners]
    if len(long) <= LONG_TAGS:
        return long
    return [long[0], *(name for name, _ in facts.owners[1:])]


def _entry(name: str, logical: int) -> str:
    return f"{name}·L{logical}"


def _ref_before(facts: BlockFacts) -> int | None:
    """Return the ref count before this frame if the frame changed it, else None."""
    changes = [event.before for event in facts.news if isinstance(event, RefCountChanged)]
    if not changes or changes[0] == facts.block.ref_count:
        return None
    return changes[0]


def _ref_text(facts: BlockFacts) -> str:
    before, now = _ref_before(facts), facts.block.ref_count
    if not before:
        return say("ref", count=now)
    return say("ref_changed", before=before, after=now)


def _note(facts: BlockFacts) -> str:
    """Say of a free block that it was returned just now, and that it still holds old bytes."""
    if facts.block.ref_count:
        return ""
    notes = []
    if any(isinstance(event, BlockFreed) for event in facts.news):
        notes.append(say("returned"))
    if any(slot.state == "stale" for slot in facts.block.slots):
        notes.append(say("old_bytes"))
    return " · ".join(notes)


def _place_in_line(facts: BlockFacts) -> str:
    """Say that a block is free, and of the next one to be given that it is."""
    if facts.block.ref_count:
        return ""
    return say("free_next" if facts.is_next else "free")


def _origin(facts: BlockFacts) -> str:
    """Say where a block in use came from, if that happened in this frame."""
    for event in facts.news:
        if isinstance(event, BlockCopied):
            return say("copied", source=event.source)
    if any(isinstance(event, BlockAllocated) for event in facts.news):
        return say("new_block")
    return ""


def _block_label(block: BlockView, owners: Sequence[tuple[str, int]]) -> str:
    if not block.ref_count:
        return say("block_free", block=block.block_id)
    named = ", ".join(_entry(*owner) for owner in owners)
    return say("block_used", block=block.block_id, ref=block.ref_count, owners=named)


def _slot(
    slot: SlotView, offset: int, vector: int | None, roster: Roster, leftover: str | None
) -> Data:
    data: Data = {"s": slot.state, "label": slot_label(slot, offset)}
    if slot.owners:
        data["o"] = roster.indices(slot.owners)
    if slot.position is not None:
        data["p"] = slot.position
    if slot.token is not None and slot.state != "empty":
        data["c"] = visible(slot.token)
    if leftover is not None:
        data["was"] = visible(leftover)
        data["label"] = say("slot_leftover", slot=data["label"])
    if slot.written_now:
        data["n"] = 1
    if vector is not None:
        data["v"] = vector
    return data


def slot_label(slot: SlotView, offset: int) -> str:
    """Say in words what a slot holds, for those who cannot see it."""
    label = say(
        f"slot_{slot.state}",
        offset=offset,
        owners=" and ".join(slot.owners),
        position=slot.position,
        token=visible(slot.token or ""),
    )
    return say("slot_written", slot=label) if slot.written_now else label
