"""Out of order: the fewest rows, each with a row that shows it to be wrong."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedkv.workloads.trace_order import out_of_order


@pytest.mark.parametrize(
    ("arrivals", "wrong"),
    [
        ([], []),
        ([5.0], []),
        ([0.0, 0.0, 1.0, 1.0], []),
        ([0.0, 1.0, 99.0, 2.0, 3.0], [(2, 3)]),  # far too late: the next ones go on from before it
        ([99.0, 1.0, 2.0, 3.0], [(0, 1)]),
        ([5.0, 6.0, 0.0, 7.0], [(2, 1)]),  # far too early
        ([7.0, 3.0], [(1, 0)]),  # either would do: the earlier row stays
        ([7.0, 3.0, 8.0], [(1, 0)]),
        ([3.0, 2.0, 1.0], [(1, 0), (2, 0)]),
        ([0.0, 1.0, 2.0, 0.0, 1.0, 2.0], [(3, 2), (4, 2)]),  # two files, joined
    ],
)
def test_rows_that_stand_wrong(arrivals, wrong) -> None:
    assert out_of_order(arrivals) == wrong


def is_in_order(arrivals) -> bool:
    return all(before <= after for before, after in pairwise(arrivals))


@given(st.lists(st.integers(0, 6).map(float), max_size=9))
def test_the_others_are_in_order_and_no_fewer_rows_would_do(arrivals: list[float]) -> None:
    found = out_of_order(arrivals)
    rows = [row for row, _ in found]
    assert rows == sorted(set(rows))
    stay = [row for row in range(len(arrivals)) if row not in rows]
    assert is_in_order([arrivals[row] for row in stay])
    more = combinations(arrivals, len(stay) + 1)
    assert not any(is_in_order(chosen) for chosen in more)
    for row, other in found:
        assert other in stay
        if other < row:
            assert arrivals[row] < arrivals[other]
        else:
            assert arrivals[row] > arrivals[other]
