"""The reservation baseline of a lesson: a contiguous region, with the texts that stand in it.

It is shown beside the pool and never touches it.
"""

from pagedkv.contiguous import ContiguousRegion
from pagedkv.events import Listener
from pagedkv.refusals import OutOfSlots
from pagedkv.trace.state import ContiguousView, ReservationView


class ContiguousBaseline:
    """As many slots as the learner's ``capacity``: unlike the pool, it loses nothing to blocks."""

    def __init__(self, capacity: int, on_event: Listener) -> None:
        self._region = ContiguousRegion(capacity, on_event=on_event)
        self._texts: dict[str, str] = {}
        self._refused: list[str] = []

    def reserve(self, name: str, text: str, declared_max: int) -> bool:
        """Reserve ``declared_max`` positions and store ``text``; say if there was room."""
        try:
            self._region.reserve(name, declared_max)
        except OutOfSlots:
            self._refused.append(name)
            return False
        self._region.store(name, len(text))
        self._texts[name] = text
        return True

    def go_on(self, name: str, text: str) -> None:
        """Store ``text`` behind what a request has stored, in the room that it reserved."""
        self._region.store(name, len(text))
        self._texts[name] += text

    def has_reservation(self, name: str) -> bool:
        """Whether this request was taken in."""
        return name in self._texts

    def view(self) -> ContiguousView | None:
        """Freeze what is true now; None as long as nobody has asked for a reservation."""
        if not self._texts and not self._refused:
            return None
        return ContiguousView(
            capacity_slots=self._region.capacity,
            reservations=tuple(
                ReservationView(
                    request=reservation.request,
                    start=reservation.start,
                    reserved=reservation.reserved,
                    stored=reservation.stored,
                    tokens=tuple(self._texts[reservation.request]),
                )
                for reservation in self._region.reservations
            ),
            free_slots=self._region.free_slots,
            refused=tuple(self._refused),
        )
