"""Which position of which character each slot's bytes stand for.

The pool's tensors hold vectors without names. This keeps the label that goes with them, and keeps
it after a block was freed: that is how the board can call old bytes by their old name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pagedkv.events import BlockCopied, Event, SlotsWritten


@dataclass(frozen=True, slots=True)
class SlotContent:
    """What the bytes of a slot are: the K and V of ``token`` at ``position``."""

    position: int
    token: str


class SlotHistory:
    """Labels of written slots, by flat slot; grows with the engine's events."""

    def __init__(self, block_size: int) -> None:
        self._block_size = block_size
        self._contents: dict[int, SlotContent] = {}

    def content(self, flat_slot: int) -> SlotContent | None:
        """What was last written to a slot, or None if nothing ever was."""
        return self._contents.get(flat_slot)

    def note(self, event: Event, tokens_of: Callable[[str], Sequence[str]]) -> set[int]:
        """Follow one event and return the slots that it gave new bytes.

        ``tokens_of`` knows all tokens of each request; it is asked only of one that was written.
        """
        match event:
            case SlotsWritten(request=request, slots=slots, positions=positions):
                tokens = tokens_of(request)
                for slot, position in zip(slots, positions, strict=True):
                    self._contents[slot] = SlotContent(position, tokens[position])
                return set(slots)
            case BlockCopied(source=source, destination=destination, positions=positions):
                self._copy(source, destination)
                first = destination * self._block_size
                return {first + position % self._block_size for position in positions}
            case _:
                return set()

    def _copy(self, source: int, destination: int) -> None:
        for offset in range(self._block_size):
            content = self._contents.get(source * self._block_size + offset)
            target = destination * self._block_size + offset
            if content is None:
                # The copy carried over NaN as well: nothing old is left there.
                self._contents.pop(target, None)
            else:
                self._contents[target] = content
