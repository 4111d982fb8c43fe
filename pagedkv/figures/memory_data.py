"""How memory was used, frame by frame: the numbers behind figure, alt text and table; no Plotly."""

from dataclasses import dataclass

from pagedkv.trace.frame import Frame, Trace
from pagedkv.trace.state import ContiguousView


@dataclass(frozen=True, slots=True)
class Use:
    """Positions stored, given out but empty, and free; their sum is the region's size."""

    stored: int
    empty: int
    free: int

    @property
    def allocated(self) -> int:
        """Positions given out, stored or not."""
        return self.stored + self.empty


@dataclass(frozen=True, slots=True)
class Moment:
    """Memory in one frame; ``number`` counts from 1 as the player does.

    In ``paged`` a slot with old bytes counts as free, and a shared slot once. ``contiguous`` is the
    reservation baseline, in the lesson that has it.
    """

    number: int
    title: str
    paged: Use
    blocks_in_use: int
    free_blocks: int
    table_entries: int
    contiguous: Use | None


@dataclass(frozen=True, slots=True)
class MemoryStory:
    """All moments of a lesson; ``unusable`` positions of ``capacity`` make no whole block."""

    capacity: int
    block_size: int
    num_blocks: int
    unusable: int
    moments: tuple[Moment, ...]

    @property
    def shares(self) -> bool:
        """Whether a block ever has more than one table entry."""
        return any(moment.table_entries > moment.blocks_in_use for moment in self.moments)

    @property
    def compares(self) -> bool:
        """Whether the lesson holds the contiguous baseline beside the pool."""
        return any(moment.contiguous is not None for moment in self.moments)


def memory_story(trace: Trace) -> MemoryStory:
    """Collect the memory numbers of every frame."""
    settings = trace.settings
    return MemoryStory(
        capacity=settings.capacity,
        block_size=settings.block_size,
        num_blocks=settings.num_blocks,
        unusable=settings.unusable_slots,
        moments=tuple(map(_moment, trace.frames)),
    )


def _moment(frame: Frame) -> Moment:
    totals = frame.state.totals
    return Moment(
        number=frame.index + 1,
        title=frame.title,
        paged=Use(totals.stored_slots, totals.empty_slots, totals.free_slots),
        blocks_in_use=totals.blocks_in_use,
        free_blocks=totals.free_blocks,
        table_entries=totals.table_entries,
        contiguous=None if frame.contiguous is None else _reserved(frame.contiguous),
    )


def _reserved(view: ContiguousView) -> Use:
    reserved = sum(reservation.reserved for reservation in view.reservations)
    stored = sum(reservation.stored for reservation in view.reservations)
    return Use(stored, reserved - stored, view.free_slots)
