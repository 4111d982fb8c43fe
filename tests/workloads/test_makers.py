"""What is made, and what cannot be."""

import pytest

from pagedkv.workloads import WorkloadError, make_workload
from pagedkv.workloads.makers import DEFAULT_SEED


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("lmsys", 10, 0), "recipe is 'lmsys'; it must be sharegpt or alpaca"),
        (("sharegpt", 0, 0), "requests is 0; it must be a whole number from 1 to 1,000,000"),
        (("sharegpt", 2.0, 0), "requests is 2.0; it must be a whole number"),
        (("sharegpt", 10, -1), "seed is -1; it must be a whole number from 0 to"),
        (("sharegpt", 10, None), "seed is None; it must be a whole number"),
        (("alpaca", 10, 0, 0), "rate is 0; it must be a number from 0.001 to 10,000"),
        (("alpaca", 10, 0, -2.0), "rate is -2.0"),
        (("alpaca", 10, 0, float("nan")), "rate is nan"),
    ],
)
def test_what_cannot_be_made_is_refused_by_name(arguments, words) -> None:
    with pytest.raises(WorkloadError, match=f"^{words}"):
        make_workload(*arguments)


def test_workloads_can_be_asked_for_and_kept_in_a_set() -> None:
    made, same = (make_workload("alpaca", 10, DEFAULT_SEED) for _ in range(2))
    assert made == made and made != same  # as one thing, for arrays are not compared
    assert len({made, same, made}) == 2
