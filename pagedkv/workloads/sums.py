"""Sums over iterations: of one size however long a simulation runs."""

from dataclasses import dataclass

from pagedkv.workloads.usage import Usage


@dataclass(slots=True)
class Sums:
    """Slots and requests, summed over the iterations that were added."""

    iterations: int = 0
    requests: int = 0
    stored: int = 0
    reserved: int = 0
    internal: int = 0
    external: int = 0
    unshared: int = 0

    @property
    def held(self) -> int:
        """Slots that belonged to a request, filled or not."""
        return self.stored + self.reserved + self.internal

    def add(self, usage: Usage, num_requests: int, iterations: int) -> None:
        """Add so many iterations from ``usage`` on, in which nobody comes, goes or takes a block.

        ``usage.growth`` more slots are stored in each than in the one before it.
        """
        grown = usage.growth * (iterations * (iterations - 1) // 2)
        self.iterations += iterations
        self.requests += num_requests * iterations
        self.stored += usage.stored * iterations + grown
        self.reserved += usage.reserved * iterations - grown
        self.internal += usage.internal * iterations
        self.external += usage.external * iterations
        self.unshared += usage.unshared * iterations
