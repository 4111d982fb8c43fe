"""Sums and lines say the same as adding up one iteration at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedkv.workloads.sums import MOST_BINS, Line, Sums
from pagedkv.workloads.usage import Usage

STRETCHES = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 700)), min_size=1, max_size=12)


@given(st.integers(1, 40), st.integers(0, 9))
def test_a_stretch_of_iterations_adds_up_as_one_after_the_other(length: int, growth: int) -> None:
    def usage(at: int) -> Usage:
        return Usage(5000, 100 + growth * at, 900 - growth * at, 70, 1500, growth)

    together, singly = Sums(), Sums()
    together.add(usage(0), 3, length)
    for at in range(length):
        singly.add(usage(at), 3, 1)
    assert together == singly


@given(STRETCHES)
def test_a_line_is_bounded_and_keeps_its_total(stretches: list[tuple[int, int]]) -> None:
    line, flat, now = Line(), [], 0
    for value, length in stretches:
        line.add(value, now, length)
        flat += [value] * length
        now += length
    points = line.points()
    assert len(points) <= MOST_BINS
    starts = [start for start, _ in points]
    ends = [*starts[1:], now]
    for (start, mean), end in zip(points, ends, strict=True):
        assert mean == pytest.approx(sum(flat[start:end]) / (end - start))


def test_what_is_left_out_counts_as_nothing() -> None:
    line = Line()
    line.add(4, 0, 1)
    line.add(4, 3, 1)
    assert line.points() == ((0, 4), (1, 0), (2, 0), (3, 4))
