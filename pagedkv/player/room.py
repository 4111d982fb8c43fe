"""How much room the board ever needs, so that nothing on it jumps between frames."""

from dataclasses import dataclass

from pagedkv.player.json_text import Data
from pagedkv.player.roster import Roster
from pagedkv.trace.frame import Frame
from pagedkv.trace.state import RequestView


@dataclass(slots=True)
class _Guest:
    """What one request needs: rows of its table, a place for its next input, and from when on."""

    first: int  # frames in which it holds a table
    last: int
    rows: int = 0
    pending: bool = False


class Room:
    """Learns frames in order. One more never takes room away, nor gives anybody another lane."""

    def __init__(self) -> None:
        self._guests: dict[str, _Guest] = {}
        self._flags = dict.fromkeys(
            ("contiguous", "attention", "shared", "longTokens", "whatIf"), False
        )

    def copy(self) -> "Room":
        """Another one that goes on from here by itself."""
        twin = Room()
        twin._guests = {
            name: _Guest(guest.first, guest.last, guest.rows, guest.pending)
            for name, guest in self._guests.items()
        }
        twin._flags = dict(self._flags)
        return twin

    def learn(self, frame: Frame) -> None:
        """Make room for one frame more."""
        for request in frame.state.requests:
            self._welcome(request, frame.index)
        self._flags["contiguous"] |= frame.contiguous is not None
        self._flags["attention"] |= bool(frame.attention)
        self._flags["whatIf"] |= frame.what_if is not None
        self._flags["shared"] |= any(block.ref_count > 1 for block in frame.state.blocks)

    def lanes(self, roster: Roster) -> dict[str, int | None]:
        """Give each request a lane of the board, so that none moves while it is there.

        Requests share a lane if one comes only after the other has gone. A request that never holds
        a block needs no lane: None.
        """
        lanes: dict[str, int | None] = dict.fromkeys(roster.names)
        ends: list[int] = []  # per lane, the last frame in which it is taken
        there = [(name, self._guests[name]) for name in roster.names if name in self._guests]
        for name, guest in sorted(there, key=lambda item: item[1].first):
            lane = next((i for i, end in enumerate(ends) if end < guest.first), len(ends))
            ends[lane : lane + 1] = [guest.last]
            lanes[name] = lane
        return lanes

    def as_data(self, roster: Roster) -> Data:
        """Return it as the browser gets it."""
        guests = [self._guests.get(name) for name in roster.names]
        return {
            "lanes": list(self.lanes(roster).values()),
            "rows": [guest.rows if guest else 0 for guest in guests],
            "pending": [guest is not None and guest.pending for guest in guests],
            **self._flags,
        }

    def _welcome(self, request: RequestView, index: int) -> None:
        guest = self._guests.setdefault(request.name, _Guest(index, index))
        guest.last = index
        guest.rows = max(guest.rows, len(request.block_table))
        guest.pending |= request.pending_token is not None
        self._flags["longTokens"] |= any(len(token) > 1 for token in request.tokens)
