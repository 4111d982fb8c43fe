"""The paper's figures come out: OPT-13B's pool, ShareGPT's lengths, a queue that is never empty.

Means of five seeds with 4,000 requests each, over the iterations from the 500th until the last
request has left the queue. Printed values and tolerances are written here again, apart from
``pagedkv.workloads.paper``.
"""

from functools import cache
from statistics import mean

import pytest

from pagedkv.workloads import Outcome, Setup, Simulation, make_workload
from pagedkv.workloads.paper import BATCHES, SHARES

SEEDS = range(5)
PRINTED = {  # token, reserved, internal, external, batch
    "max": (20.4, 13.3, 57.3, 8.9, 7.00),
    "pow2": (26.8, 17.9, 13.6, 41.6, 9.81),
    "oracle": (38.2, 25.2, 0.0, 36.6, 13.62),
}
TOLERANCES = {"max": (2, 2, 2, 2), "pow2": (2, 2, 2, 3), "oracle": (2, 2, 2, 2)}


@cache
def outcomes(policy: str) -> tuple[Outcome, ...]:
    found = []
    for seed in SEEDS:
        simulation = Simulation(make_workload("sharegpt", 4000, seed), Setup(policy=policy))
        simulation.run()
        found.append(simulation.outcome())
    return tuple(found)


def means(policy: str) -> tuple[float, ...]:
    names = ("token", "reserved", "internal", "external")
    shares = (mean(getattr(o.shares, name) for o in outcomes(policy)) for name in names)
    return (*shares, mean(outcome.mean_batch for outcome in outcomes(policy)))


@pytest.mark.parametrize("policy", PRINTED)
def test_reservations_split_memory_as_printed(policy: str) -> None:
    *shares, batch = means(policy)
    *printed, printed_batch = PRINTED[policy]
    for share, expected, tolerance in zip(shares, printed, TOLERANCES[policy], strict=True):
        assert share == pytest.approx(expected, abs=tolerance)
    assert batch == pytest.approx(printed_batch, rel=0.06)


def test_blocks_leave_hardly_anything_empty() -> None:
    token, *_, batch = means("paged")
    assert token >= 96
    assert 30.42 < batch < 1.2 * 30.42  # saturated here, near saturation in the paper


def test_all_are_measured_from_iteration_500_and_everybody_is_served() -> None:
    for policy in (*PRINTED, "paged"):
        for outcome in outcomes(policy):
            assert outcome.is_steady and outcome.measured_from == 500
            assert (outcome.finished, outcome.turned_away) == (4000, 0)


def test_max_is_what_seven_reservations_of_2048_make_of_15728_slots() -> None:
    """The largest chunks of 2048 that the pool is cut into are 4 + 2 + 1."""
    assert means("max")[-1] == pytest.approx(7, abs=0.01)
    assert means("max")[3] == pytest.approx(100 * (1 - 7 * 2048 / 15_728), abs=0.05)


def test_the_pages_copy_of_the_printed_values_is_the_same() -> None:
    for policy, printed in PRINTED.items():
        named = dict(zip(("token", "reserved", "internal", "external"), printed, strict=False))
        for part, value in SHARES[policy].items():
            assert value.value == named[part]
        assert BATCHES["sharegpt"][policy].value == printed[-1]
    assert SHARES["paged"]["token"].value == 96.3
    assert BATCHES["sharegpt"]["paged"].value == 30.42


@pytest.mark.parametrize(("recipe", "means_"), [("sharegpt", (161, 338)), ("alpaca", (19, 58))])
def test_made_workloads_have_the_printed_means(recipe: str, means_: tuple[int, int]) -> None:
    made = make_workload(recipe, 40_000, seed=0)
    assert made.mean_input == pytest.approx(means_[0], rel=0.03)
    assert made.mean_output == pytest.approx(means_[1], rel=0.03)
    assert made.longest <= 2048
    assert made.inputs.min() >= 1 and made.outputs.min() >= 1
    assert made.is_saturated


def test_arrivals_by_chance_come_at_the_rate() -> None:
    made = make_workload("sharegpt", 20_000, seed=3, rate=2.0)
    assert made.arrivals[-1] / 20_000 == pytest.approx(0.5, rel=0.03)
    assert (made.arrivals[1:] >= made.arrivals[:-1]).all()
    assert not made.is_saturated
    assert (made.inputs == make_workload("sharegpt", 20_000, seed=3).inputs).all()


@pytest.mark.parametrize(("answers", "printed"), [(2, 16.2), (6, 30.5)])
def test_sharing_a_sharegpt_prompt_saves_about_what_is_printed(
    answers: int, printed: float
) -> None:
    simulation = Simulation(make_workload("sharegpt", 1500, seed=0), Setup(answers=answers))
    simulation.run()
    assert simulation.outcome().saved == pytest.approx(printed, abs=6)
