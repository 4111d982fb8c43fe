"""Who takes part in a lesson: request names in order of appearance, each with its colour index.

The browser gets small numbers instead of names; a request keeps its number, hence its colour and
pattern, from the first frame to the last.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pagedkv.trace.frame import Trace
from pagedkv.trace.participants import colour_number, participants


@dataclass(frozen=True, slots=True)
class Roster:
    """The names of a lesson's requests; a request's index is its place in ``names``."""

    names: tuple[str, ...]

    def index(self, name: str) -> int:
        """Return the request's number; ``ValueError`` if the lesson never mentions it."""
        return self.names.index(name)

    def indices(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of several requests, in the order given."""
        return [self.index(name) for name in names]

    def as_data(self) -> list[dict[str, object]]:
        """Return name and colour of each request, as the browser gets them."""
        return [{"name": name, "colour": colour_number(self.names, name)} for name in self.names]


def roster_of(trace: Trace) -> Roster:
    """Number everybody who takes part in the lesson of ``trace``, in order of appearance."""
    return Roster(participants(trace))


def lanes_of(trace: Trace, roster: Roster) -> dict[str, int | None]:
    """Give each request a lane of the board, so that none moves while it is there.

    Requests share a lane if one comes only after the other has gone. A request that never holds a
    block needs no lane: None.
    """
    spans = {name: _span(trace, name) for name in roster.names}
    lanes: dict[str, int | None] = dict.fromkeys(roster.names)
    ends: list[int] = []  # per lane, the last frame in which it is taken
    for name, span in sorted(spans.items(), key=lambda item: item[1] or (0, 0)):
        if span is None:
            continue
        first, last = span
        lane = next((i for i, end in enumerate(ends) if end < first), len(ends))
        ends[lane : lane + 1] = [last]
        lanes[name] = lane
    return lanes


def _span(trace: Trace, name: str) -> tuple[int, int] | None:
    """Return the first and the last frame in which a request holds a table."""
    there = [
        frame.index
        for frame in trace.frames
        if any(request.name == name for request in frame.state.requests)
    ]
    return (there[0], there[-1]) if there else None
