"""The baseline that paging improves on: one region, one unbroken reservation a request.

A request declares the most positions it may ever hold and gets that many slots in a row, where the
placement finds room: the first hole that is large enough, or a buddy allocator's chunk. The whole
reservation is taken for as long as it runs, stored or not: that is what the paged pool is compared
with. Slots are counted from 0; no tensors stand behind them, nothing grows beyond its reservation,
and nothing is ever moved.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

from pagedkv.checks import require_name, require_whole_number
from pagedkv.contiguous_placement import FirstFit, Hole, Placement
from pagedkv.events import Listener, RequestRefused, ignore
from pagedkv.refusals import OutOfSlots


@dataclass(frozen=True, slots=True)
class Reservation:
    """``request`` owns slots ``start`` to ``stop`` - 1; the first ``stored`` of them hold KV."""

    request: str
    start: int
    reserved: int
    stored: int = 0

    @property
    def stop(self) -> int:
        """The first slot behind the reservation."""
        return self.start + self.reserved

    @property
    def empty(self) -> int:
        """Slots that are reserved and hold nothing."""
        return self.reserved - self.stored


class ContiguousRegion:
    """``capacity`` slots, handed out as unbroken reservations.

    ``place`` makes the placement that chooses where: ``FirstFit``, or ``Buddy``, which takes more
    slots than are reserved. Wrong numbers, unknown names and names taken raise ValueError; no room
    raises ``OutOfSlots``. Either way nothing has changed. ``on_event`` hears of refusals.
    """

    def __init__(
        self,
        capacity: int,
        *,
        place: Callable[[int], Placement] = FirstFit,
        on_event: Listener = ignore,
    ) -> None:
        self._placement = place(capacity)
        self._reservations: dict[str, Reservation] = {}  # by name, in order of arrival
        self._on_event = on_event

    @property
    def capacity(self) -> int:
        """All slots, reserved or free."""
        return self._placement.capacity

    @property
    def reservations(self) -> tuple[Reservation, ...]:
        """All reservations, by place in the region."""
        return tuple(sorted(self._reservations.values(), key=lambda r: r.start))

    @property
    def holes(self) -> tuple[Hole, ...]:
        """The free stretches, by place, each of which could be reserved as a whole."""
        return self._placement.holes

    @property
    def free_slots(self) -> int:
        """Slots that belong to nobody, wherever they are."""
        return sum(hole.size for hole in self.holes)

    @property
    def largest_hole(self) -> int:
        """The longest reservation that could be made now."""
        return max((hole.size for hole in self.holes), default=0)

    def can_reserve(self, declared_max: int) -> bool:
        """Whether some hole is large enough for ``declared_max`` slots in a row."""
        require_whole_number("declared_max", declared_max, least=1)
        return declared_max <= self.largest_hole

    def reserve(self, name: str, declared_max: int) -> Reservation:
        """Reserve ``declared_max`` slots in a hole that is large enough; store nothing.

        Raises OutOfSlots if there is no such hole; ValueError if the name is taken.
        """
        require_name("name", name)
        if name in self._reservations:
            raise ValueError(f"name must be new, and there is a reservation of {name!r}")
        require_whole_number("declared_max", declared_max, least=1)
        start = self._placement.take(declared_max)
        if start is None:
            self._refuse(name, declared_max)
        self._reservations[name] = Reservation(name, start, declared_max)
        return self._reservations[name]

    def store(self, name: str, n: int) -> Reservation:
        """Store ``n`` more positions. Raises ValueError if fewer reserved slots are empty."""
        reservation = self._reservation(name)
        require_whole_number("n", n, least=1)
        if n > reservation.empty:
            raise ValueError(
                f"n must be at most {reservation.empty}: {name} reserved {reservation.reserved} "
                f"slots and stored {reservation.stored}, got {n}"
            )
        self._reservations[name] = replace(reservation, stored=reservation.stored + n)
        return self._reservations[name]

    def release(self, name: str) -> None:
        """End a request and give all its slots back."""
        reservation = self._reservation(name)
        del self._reservations[name]
        self._placement.give_back(reservation.start, reservation.reserved)

    def _reservation(self, name: str) -> Reservation:
        require_name("name", name)
        if name not in self._reservations:
            known = ", ".join(self._reservations) or "none"
            raise ValueError(f"name must be that of a reservation (now: {known}), got {name!r}")
        return self._reservations[name]

    def _refuse(self, name: str, needed: int) -> NoReturn:
        refusal = OutOfSlots(
            name,
            needed,
            self.free_slots,
            self.capacity,
            self.largest_hole,
            self._placement.longest,
        )
        self._on_event(
            RequestRefused(
                name, needed, self.free_slots, self.capacity, refusal.reason, unit="slots"
            )
        )
        raise refusal
