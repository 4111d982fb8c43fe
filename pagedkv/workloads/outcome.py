"""What came of one simulation: means over the iterations that were measured, and a line."""

from dataclasses import dataclass

from pagedkv.workloads.setup import Setup
from pagedkv.workloads.sums import Sums


@dataclass(frozen=True, slots=True)
class Shares:
    """Per cent of all slots, on average: the four parts of the paper's figure 2. Sum: 100."""

    token: float
    reserved: float
    internal: float
    external: float

    @property
    def empty_of_held(self) -> float:
        """Per cent of the slots held by requests that hold nothing; 0 where none is held."""
        held = self.token + self.reserved + self.internal
        return 100 * (1 - self.token / held) if held else 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """``finished`` of ``num_requests`` ended; ``turned_away`` would never have fitted.

    ``mean_batch`` and ``shares`` are means over ``measured`` iterations, from number
    ``measured_from`` on; ``is_steady`` says whether those are what the paper's figures are compared
    with: from the 500th until the last request has left the queue, in iteration ``queue_ended``
    (None: it has not yet). In ``idle`` of the ``iterations`` nobody ran: an engine makes none then,
    so they are in no mean. ``saved`` is the per cent of blocks that sharing saves. ``batches``
    holds (iteration, mean requests in a batch) for at most ``MOST_BINS`` stretches of all
    ``iterations``, the idle ones among them.
    """

    setup: Setup
    num_requests: int
    finished: int
    turned_away: int
    preemptions: int
    iterations: int
    idle: int
    measured: int
    measured_from: int
    is_steady: bool
    queue_ended: int | None
    shares: Shares
    mean_batch: float
    saved: float
    batches: tuple[tuple[int, float], ...]

    @property
    def was_stopped(self) -> bool:
        """Whether some requests had neither ended nor been turned away."""
        return self.finished + self.turned_away < self.num_requests


def shares_of(sums: Sums) -> Shares:
    """Turn sums into per cent of all slots; of nothing at all, everything is external."""
    total = sums.held + sums.external
    if total == 0:
        return Shares(0.0, 0.0, 0.0, 100.0)
    parts = (sums.stored, sums.reserved, sums.internal, sums.external)
    return Shares(*(100 * part / total for part in parts))


def saved_of(sums: Sums) -> float:
    """Per cent of the blocks that would be held without sharing (Kwon et al. 2023, figure 15)."""
    return 100 * (1 - sums.held / sums.unshared) if sums.unshared else 0.0
