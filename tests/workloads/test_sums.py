"""Sums say the same as adding up one iteration at a time."""

from hypothesis import given
from hypothesis import strategies as st

from pagedkv.workloads.sums import Sums
from pagedkv.workloads.usage import Usage


@given(st.integers(1, 40), st.integers(0, 9))
def test_a_stretch_of_iterations_adds_up_as_one_after_the_other(length: int, growth: int) -> None:
    def usage(at: int) -> Usage:
        return Usage(5000, 100 + growth * at, 900 - growth * at, 70, 1500, growth)

    together, singly = Sums(), Sums()
    together.add(usage(0), 3, length)
    for at in range(length):
        singly.add(usage(at), 3, 1)
    assert together == singly


def test_what_is_held_is_what_a_moment_says_it_is() -> None:
    usage, sums = Usage(5000, 100, 900, 70, 1500, 0), Sums()
    sums.add(usage, 3, 4)
    assert sums.held == 4 * usage.held == sums.stored + 4 * 970
