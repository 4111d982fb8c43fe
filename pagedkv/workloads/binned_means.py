"""A number over time, as means of few stretches however long a simulation runs."""

from itertools import zip_longest

MOST_BINS = 64  # more are noise that hides one curve behind another


class BinnedMeans:
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
            pairs = zip_longest(self._bins[::2], self._bins[1::2], fillvalue=0.0)
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
