"""Who takes part in a lesson, in order of appearance: a request's place gives it its colour."""

from collections.abc import Iterator

from pagedkv.trace.frame import Frame, Trace


def participants(trace: Trace) -> tuple[str, ...]:
    """Names of all requests that a frame holds, reserves for, refuses or lets wait; none twice."""
    return tuple(dict.fromkeys(name for frame in trace.frames for name in _named_in(frame)))


def _named_in(frame: Frame) -> Iterator[str]:
    yield from (request.name for request in frame.state.requests)
    if frame.contiguous is not None:
        yield from (reservation.request for reservation in frame.contiguous.reservations)
        yield from frame.contiguous.refused
    yield from frame.state.waiting
