"""What the slots of a pool are used for at one moment, in the paper's four parts.

Kwon et al. 2023, section 3.1: *reserved* slots will be filled by later tokens of the same request;
*internal fragmentation* is slots that a request holds and never fills; *external fragmentation* is
what the allocator cannot give, here with all other slots that hold nothing for anybody.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Slots at one moment. ``growth`` is how many more are stored an iteration later.

    Until a request comes, goes or takes a block, nothing else changes: ``reserved`` falls as
    ``stored`` grows. ``unshared`` counts the slots of the blocks that would be held without
    sharing; it is ``held`` where nothing is shared.
    """

    num_slots: int
    stored: int
    reserved: int
    internal: int
    unshared: int
    growth: int

    @property
    def held(self) -> int:
        """Slots that belong to a request, filled or not."""
        return self.stored + self.reserved + self.internal

    @property
    def external(self) -> int:
        """Slots that are nobody's, or the allocator's own loss."""
        return self.num_slots - self.held
