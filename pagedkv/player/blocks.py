"""Physical blocks, every label, tag and highlight decided, so that the browser only draws."""

from collections.abc import Iterable
from typing import Any

from pagedkv.events import BlockAllocated, BlockCopied, BlockFreed, RefCountChanged
from pagedkv.player.leftovers import Leftovers
from pagedkv.player.news import news
from pagedkv.player.roster import Roster
from pagedkv.player.text import say
from pagedkv.trace.frame import Frame
from pagedkv.trace.state import BlockView, RequestView, SlotView
from pagedkv.trace.written import visible

Data = dict[str, Any]


def blocks_data(frame: Frame, roster: Roster, leftovers: Leftovers) -> list[Data]:
    """Describe every block of the pool, in pool order."""
    return [_block(block, frame, roster, leftovers) for block in frame.state.blocks]


def _block(block: BlockView, frame: Frame, roster: Roster, leftovers: Leftovers) -> Data:
    owners = _owners(block.block_id, frame.state.requests)
    tags = [f"{name}·L{logical}" for name, logical in owners]
    return {
        "id": block.block_id,
        "ref": block.ref_count,
        "refText": _ref_text(block, frame),
        "changed": _ref_changed(block, frame) is not None,
        "owners": [[roster.index(name), logical] for name, logical in owners],
        "tags": tags,
        "free": _place_in_line(block, frame),
        "origin": _origin(block.block_id, frame) if block.ref_count else "",
        "note": _note(block, frame),
        "label": _block_label(block, tags),
        "slots": [
            _slot(slot, offset, vector, roster, leftovers.in_slot(slot, vector))
            for offset, (slot, vector) in enumerate(
                zip(block.slots, frame.vector_ids[block.block_id], strict=True)
            )
        ],
    }


def _owners(block_id: int, requests: Iterable[RequestView]) -> list[tuple[str, int]]:
    return [
        (request.name, logical)
        for request in requests
        for logical, entry in enumerate(request.block_table)
        if entry == block_id
    ]


def _ref_changed(block: BlockView, frame: Frame) -> int | None:
    """Return the ref count before this frame if the frame changed it, else None."""
    changes = [
        event
        for event in news(frame)
        if isinstance(event, RefCountChanged) and event.block_id == block.block_id
    ]
    if not changes or changes[0].before == block.ref_count:
        return None
    return changes[0].before


def _ref_text(block: BlockView, frame: Frame) -> str:
    before = _ref_changed(block, frame)
    if not before:
        return say("ref", count=block.ref_count)
    return say("ref_changed", before=before, after=block.ref_count)


def _note(block: BlockView, frame: Frame) -> str:
    """Say of a free block that it was returned just now, and that it still holds old bytes."""
    if block.ref_count:
        return ""
    notes = []
    if any(isinstance(e, BlockFreed) and e.block_id == block.block_id for e in news(frame)):
        notes.append(say("returned"))
    if any(slot.state == "stale" for slot in block.slots):
        notes.append(say("old_bytes"))
    return " · ".join(notes)


def _place_in_line(block: BlockView, frame: Frame) -> str:
    """Say that a block is free, and of the next one to be given that it is."""
    if block.ref_count:
        return ""
    is_next = frame.state.free_blocks[:1] == (block.block_id,)
    return say("free_next" if is_next else "free")


def _origin(block_id: int, frame: Frame) -> str:
    """Say where a block in use came from, if that happened in this frame."""
    for event in news(frame):
        if isinstance(event, BlockCopied) and event.destination == block_id:
            return say("copied", source=event.source)
    if any(isinstance(e, BlockAllocated) and e.block_id == block_id for e in news(frame)):
        return say("new_block")
    return ""


def _block_label(block: BlockView, tags: list[str]) -> str:
    if not block.ref_count:
        return say("block_free", block=block.block_id)
    owners = ", ".join(tags)
    return say("block_used", block=block.block_id, ref=block.ref_count, owners=owners)


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
