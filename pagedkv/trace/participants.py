"""Who takes part in a lesson, in order of appearance: a request's place gives it its colour.

Board and figures both ask here, so that a request looks the same on either.
"""

from collections.abc import Iterable, Iterator, Sequence

from pagedkv.trace.frame import Frame

NUM_COLOURS = 6


def colour_number(names: Sequence[str], name: str) -> int:
    """Return the number of a participant's colour; after six they begin again."""
    return names.index(name) % NUM_COLOURS


def participants(frames: Iterable[Frame]) -> tuple[str, ...]:
    """Names of all requests that some frame mentions, none twice."""
    return tuple(dict.fromkeys(name for frame in frames for name in _mentioned_in(frame)))


def _mentioned_in(frame: Frame) -> Iterator[str]:
    yield from (request.name for request in frame.state.requests)
    if frame.contiguous is not None:
        yield from (reservation.request for reservation in frame.contiguous.reservations)
        yield from frame.contiguous.refused
    yield from frame.state.waiting
    if frame.check is not None:
        yield frame.check.request
    if frame.execution is not None:
        yield from (count.request for count in frame.execution.inputs)
    if frame.what_if is not None:
        yield frame.what_if.request
        for cell in frame.what_if.cells:
            yield from (*cell.owners, *cell.wanted_by)
    yield from (entry.request for entry in frame.lookup or ())
    yield from (view.request for view in frame.attention or ())
