"""Means of stretches say the same as averaging one iteration at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedkv.workloads.binned_means import MOST_BINS, BinnedMeans

STRETCHES = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 700)), min_size=1, max_size=12)


@given(STRETCHES)
def test_there_are_few_bins_and_each_is_the_mean_of_its_stretch(
    stretches: list[tuple[int, int]],
) -> None:
    means, flat, now = BinnedMeans(), [], 0
    for value, length in stretches:
        means.add(value, now, length)
        flat += [value] * length
        now += length
    points = means.points()
    assert len(points) <= MOST_BINS
    starts = [start for start, _ in points]
    ends = [*starts[1:], now]
    for (start, mean), end in zip(points, ends, strict=True):
        assert mean == pytest.approx(sum(flat[start:end]) / (end - start))


def test_what_is_left_out_counts_as_nothing() -> None:
    means = BinnedMeans()
    means.add(4, 0, 1)
    means.add(4, 3, 1)
    assert means.points() == ((0, 4), (1, 0), (2, 0), (3, 4))
