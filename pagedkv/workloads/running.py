"""A request while it runs."""

from dataclasses import dataclass

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
