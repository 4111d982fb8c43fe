"""What every way to give out a memory has to answer for requests that come, run and go."""

from typing import Protocol

from pagedkv.workloads.running import Running
from pagedkv.workloads.usage import Usage
from pagedkv.workloads.workload import Request


class MemoryPolicy(Protocol):
    """A pool and a way to give it out. All answers of a request come, grow and go together."""

    def could_hold(self, request: Request) -> bool:
        """Whether the request fits from beginning to end, if it has the pool to itself."""

    def grow(self, now: int) -> bool:
        """Make room for what every running request stores in iteration ``now``, if there is."""

    def admit(self, running: Running) -> bool:
        """Give a request what it needs to start in iteration ``running.admitted``, if there is."""

    def release(self, running: Running, now: int) -> None:
        """Take back all that a request holds; ``now`` is the first iteration without it."""

    def iterations_until_growth(self, now: int) -> int | None:
        """In how many iterations after ``now`` somebody needs a block next; None: never."""

    def usage(self, now: int) -> Usage:
        """What the slots are used for in iteration ``now``."""
