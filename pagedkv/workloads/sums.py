"""Sums over iterations, and a line over time: both of one size however long a simulation runs."""

from dataclasses import dataclass

from pagedkv.workloads.usage import Usage

MOST_BINS = 256


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
    held: int = 0

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
        self.held += usage.held * iterations


class Line:
    """A number over iterations as at most ``MOST_BINS`` means over stretches of equal length.

    When they are used up, each two neighbours become one: a stretch is twice as long from then on.
    """

    def __init__(self) -> None:
        self._width = 1  # iterations in a bin
        self._bins: list[float] = []  # sums, not means
        self._end = 0

    def add(self, value: float, start: int, iterations: int) -> None:
        """Add ``value`` for so many iterations from ``start`` on; what was left out counts as 0."""
        self._end = start + iterations
        while self._end > self._width * MOST_BINS:
            pairs = zip(self._bins[::2], [*self._bins[1::2], 0.0], strict=False)
            self._bins = [first + second for first, second in pairs]
            self._width *= 2
        last = (self._end - 1) // self._width
        self._bins += [0.0] * (last + 1 - len(self._bins))
        for index in range(start // self._width, last + 1):
            begins, ends = index * self._width, (index + 1) * self._width
            self._bins[index] += value * (min(ends, self._end) - max(begins, start))

    def points(self) -> tuple[tuple[int, float], ...]:
        """Return (first iteration, mean) for each stretch, in order."""
        starts = (index * self._width for index in range(len(self._bins)))
        return tuple(
            (start, total / (min(start + self._width, self._end) - start))
            for start, total in zip(starts, self._bins, strict=True)
        )
