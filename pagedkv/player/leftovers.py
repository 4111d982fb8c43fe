"""Old bytes by name: which character each vector stood for when a frame last showed it.

An empty slot may still hold what a former owner stored. The trace numbers those vectors and does
not name them there; an earlier frame, in which they were stored or free, did.
"""

from pagedkv.trace.frame import Frame
from pagedkv.trace.state import SlotView

_UNKNOWN = "?"


class Leftovers:
    """Learns names from frames in order, and gives them back for empty slots."""

    def __init__(self) -> None:
        self._tokens: dict[int, str] = {}

    def copy(self) -> "Leftovers":
        """Another one that goes on from here by itself."""
        twin = Leftovers()
        twin._tokens = dict(self._tokens)
        return twin

    def learn(self, frame: Frame) -> None:
        """Note what the frame names: every slot that is stored, or free with old bytes."""
        for block, vectors in zip(frame.state.blocks, frame.vector_ids, strict=True):
            for slot, vector in zip(block.slots, vectors, strict=True):
                if slot.state in ("stored", "stale") and slot.token and vector is not None:
                    self._tokens[vector] = slot.token

    def in_slot(self, slot: SlotView, vector: int | None) -> str | None:
        """Return the character of the old bytes in an empty slot; None if it has none."""
        if vector is None or not is_leftover(slot, vector):
            return None
        return self._tokens.get(vector, _UNKNOWN)


def is_leftover(slot: SlotView, vector: int | None) -> bool:
    """Whether a slot is empty and yet was written before, by somebody else."""
    return slot.state == "empty" and vector is not None
