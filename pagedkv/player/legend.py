"""The legend: the states that are on screen, each with its words."""

from pagedkv.player.leftovers import is_leftover
from pagedkv.player.text import say
from pagedkv.trace.frame import Frame
from pagedkv.trace.state import SlotView

_LEGEND_ORDER = ("stored", "written", "shared", "empty", "leftover", "reserved", "free", "stale")


def legend_data(frame: Frame) -> list[list[str]]:
    """List the states that are on screen in this frame, each with its words."""
    present = {
        _look(slot, vector)
        for block, vectors in zip(frame.state.blocks, frame.vector_ids, strict=True)
        for slot, vector in zip(block.slots, vectors, strict=True)
    }
    if any(slot.written_now for block in frame.state.blocks for slot in block.slots):
        present.add("written")
    if frame.contiguous is not None:
        present |= _contiguous_looks(frame)
    return [[look, say(f"legend_{look}")] for look in _LEGEND_ORDER if look in present]


def _look(slot: SlotView, vector: int | None) -> str:
    if is_leftover(slot, vector):
        return "leftover"
    return "shared" if slot.state == "stored" and len(slot.owners) > 1 else slot.state


def _contiguous_looks(frame: Frame) -> set[str]:
    assert frame.contiguous is not None
    reservations = frame.contiguous.reservations
    looks = {"stored"} if any(r.stored for r in reservations) else set()
    if any(r.reserved > r.stored for r in reservations):
        looks.add("reserved")
    return looks | ({"free"} if frame.contiguous.free_slots else set())
