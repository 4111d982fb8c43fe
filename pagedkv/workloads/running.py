"""A request while it runs, and what every memory policy has to answer for it."""

from dataclasses import dataclass
from typing import Protocol

from pagedkv.workloads.usage import Usage
from pagedkv.workloads.workload import Request


@dataclass(slots=True, eq=False)
class Running:
    """A request that was admitted in iteration ``admitted`` with ``stored_then`` slots to fill.

    ``stored_then`` is its prompt and, after a preemption, what had been generated: it is computed
    again in the same pass. Each iteration selects one output of each answer, and stores it in the
    next one.
    """

    request: Request
    admitted: int
    stored_then: int

    @property
    def leaves(self) -> int:
        """The first iteration without it: by then every output has been selected."""
        return self.admitted + self.request.num_tokens - self.stored_then

    def stored(self, now: int) -> int:
        """Slots that one answer fills in iteration ``now``, prompt included."""
        return self.stored_then + now - self.admitted


class Memory(Protocol):
    """A pool and a way to give it out. All answers of a request come, grow and go together."""

    def could_hold(self, request: Request) -> bool:
        """Whether the request fits from beginning to end, if it has the pool to itself."""

    def grow(self, now: int) -> bool:
        """Make room for what every running request stores in iteration ``now``, if there is."""

    def admit(self, running: Running) -> bool:
        """Give a request what it needs to start in iteration ``running.admitted``, if there is."""

    def release(self, running: Running, now: int) -> None:
        """Take back all that a request holds; ``now`` is the first iteration without it."""

    def quiet(self, now: int) -> int | None:
        """In how many iterations after ``now`` somebody needs a block next; None: never."""

    def usage(self, now: int) -> Usage:
        """What the slots are used for in iteration ``now``."""
