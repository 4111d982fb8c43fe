"""The reservation baseline as a strip: reserved pieces and what is left between them."""

from typing import Any

from pagedkv.events import RequestRefused
from pagedkv.player.roster import Roster
from pagedkv.player.text import explained, say
from pagedkv.trace.frame import Frame
from pagedkv.trace.state import ContiguousView, ReservationView
from pagedkv.trace.written import visible

Data = dict[str, Any]


def contiguous_data(frame: Frame, roster: Roster) -> Data | None:
    """Describe the strip from left to right, and who did not fit; None where there is none."""
    view = frame.contiguous
    if view is None:
        return None
    return {
        "capacity": view.capacity_slots,
        "sum": _sum(view),
        "pieces": _pieces(view, roster),
        "refused": [_refusal(name, frame) for name in view.refused],
    }


def _sum(view: ContiguousView) -> list[str | Data]:
    reserved = sum(reservation.reserved for reservation in view.reservations)
    return [
        say("contiguous_sum", reserved=reserved, left=view.free_slots),
        explained(say("capacity", count=view.capacity_slots), "capacity"),
    ]


def _pieces(view: ContiguousView, roster: Roster) -> list[Data]:
    pieces: list[Data] = []
    end = 0
    for reservation in sorted(view.reservations, key=lambda r: r.start):
        pieces += _gap(end, reservation.start)
        pieces.append(_reservation(reservation, roster))
        end = reservation.start + reservation.reserved
    return pieces + _gap(end, view.capacity_slots)


def _gap(start: int, end: int) -> list[Data]:
    if end <= start:
        return []
    return [{"start": start, "length": end - start, "text": say("left_over", count=end - start)}]


def _reservation(reservation: ReservationView, roster: Roster) -> Data:
    empty = reservation.reserved - reservation.stored
    return {
        "r": roster.index(reservation.request),
        "start": reservation.start,
        "length": reservation.reserved,
        "stored": reservation.stored,
        "chars": [visible(token) for token in reservation.tokens[: reservation.stored]],
        "storedText": say("reserved_stored", count=reservation.stored),
        "emptyText": say("reserved_empty", count=empty, request=reservation.request),
    }


def _refusal(name: str, frame: Frame) -> str:
    for event in frame.events:
        if isinstance(event, RequestRefused) and event.request == name and event.unit == "slots":
            return say("refused_counts", request=name, needed=event.needed, free=event.free)
    return say("refused", request=name)
