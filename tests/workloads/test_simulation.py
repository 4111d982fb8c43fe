"""What holds in every simulation, under every policy."""

import dataclasses
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workload_samples import turns, workload_of, workloads

from pagedkv.contiguous import ContiguousRegion
from pagedkv.contiguous_buddy import Buddy
from pagedkv.workloads import POLICIES, Setup, Simulation, Workload, make_workload
from pagedkv.workloads.binned_means import MOST_BINS
from pagedkv.workloads.clock import Clock
from pagedkv.workloads.paging import PagedMemory
from pagedkv.workloads.reserving import ReservingMemory

SETUPS = st.builds(
    Setup,
    policy=st.sampled_from(POLICIES),
    slots=st.integers(16, 200),
    block_size=st.integers(1, 16),
    answers=st.integers(1, 3),
    max_length=st.sampled_from([16, 32, 64]),
)


def is_empty(simulation: Simulation) -> bool:
    """Whether the pool is as it was before the first request."""
    memory = simulation.memory
    if isinstance(memory, PagedMemory):
        return memory.num_free_blocks == memory.num_blocks
    assert isinstance(memory, ReservingMemory)
    fresh = ContiguousRegion(memory.region.capacity, place=Buddy)
    return memory.region.holes == fresh.holes and not memory.region.reservations


def ended(workload: Workload, setup: Setup) -> Simulation:
    simulation = Simulation(workload, setup)
    simulation.run()
    return simulation


@given(workloads(), SETUPS)
def test_slots_are_conserved_at_every_step_and_the_pool_is_whole_in_the_end(
    workload: Workload, setup: Setup
) -> None:
    for simulation, usage in turns(workload, setup):
        if usage is None:
            continue
        parts = (usage.stored, usage.reserved, usage.internal, usage.external)
        assert min(parts) >= 0
        assert sum(parts) == usage.num_slots == setup.slots
        assert usage.unshared >= usage.held
        assert usage.growth == setup.answers * len(simulation.running)
    assert simulation.memory.usage(simulation.now).held == 0
    assert is_empty(simulation)


@given(workloads(), SETUPS)
def test_a_reservation_holds_what_the_region_says(workload: Workload, setup: Setup) -> None:
    setup = dataclasses.replace(setup, policy="pow2")
    for simulation, usage in turns(workload, setup):
        region = simulation.memory.region
        assert len(region.reservations) == setup.answers * len(simulation.running)
        if usage is not None:
            assert usage.held == sum(r.reserved for r in region.reservations)
            assert region.free_slots <= usage.external


@given(workloads(), SETUPS)
def test_an_oracle_reserves_what_is_filled_and_nothing_else(
    workload: Workload, setup: Setup
) -> None:
    setup = dataclasses.replace(setup, policy="oracle")
    for simulation, usage in turns(workload, setup):
        reserved = sorted(r.reserved for r in simulation.memory.region.reservations)
        filled = [r.request.num_inputs + r.request.num_outputs - 1 for r in simulation.running]
        assert reserved == sorted(filled * setup.answers)
        assert usage is None or usage.internal == 0
    assert simulation.outcome().shares.internal == 0


@given(workloads(), SETUPS)
def test_nobody_starves_and_nobody_overtakes(workload: Workload, setup: Setup) -> None:
    first_seen: list[int] = []
    for simulation, _ in turns(workload, setup):
        numbers = [running.request.number for running in simulation.running]
        assert numbers == sorted(numbers)
        first_seen += [number for number in numbers if number not in first_seen]
    assert first_seen == sorted(first_seen)
    assert simulation.finished == len(first_seen)
    assert simulation.finished + simulation.turned_away == len(workload)
    assert not simulation.has_waiting
    assert not simulation.outcome().was_stopped


@given(workloads(), SETUPS)
def test_only_who_could_never_run_is_turned_away(workload: Workload, setup: Setup) -> None:
    alone = [
        ended(workload_of((0.0, r.num_inputs, r.num_outputs)), setup).finished for r in workload
    ]
    assert ended(workload, setup).finished == sum(alone)


@given(workloads(), SETUPS)
def test_the_same_requests_give_the_same_outcome_whatever_is_watched(
    workload: Workload, setup: Setup
) -> None:
    watched = Simulation(workload, setup)
    news: list[tuple[int, int]] = []
    watched.run(lambda done, total: news.append((done, total)))
    assert watched.outcome() == ended(workload, setup).outcome()
    assert news[0] == (0, len(workload)) and news[-1] == (len(workload), len(workload))
    assert news == sorted(news)


def test_the_same_seed_gives_the_same_requests_and_another_one_others() -> None:
    outcomes = [
        ended(make_workload("alpaca", 200, seed, rate=20.0), Setup()).outcome()
        for seed in (7, 7, 8)
    ]
    assert outcomes[0] == outcomes[1] != outcomes[2]


def test_a_stopped_simulation_keeps_what_there_is_and_can_go_on() -> None:
    workload = make_workload("sharegpt", 300, seed=1)
    simulation = Simulation(workload, Setup())

    def stop(done: int, _: int) -> None:
        if done >= 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulation.run(stop)
    outcome = simulation.outcome()
    assert outcome.was_stopped and 100 <= outcome.finished < 300
    assert outcome.mean_batch > 0 and outcome.batches
    simulation.run()
    assert simulation.outcome() == ended(workload, Setup()).outcome()


def test_shares_and_batch_of_a_case_that_can_be_checked_in_the_head() -> None:
    """Two requests of 3 + 2 in a pool of 8 slots in blocks of 2: side by side, for two iterations.

    Each holds 2 blocks: 3 of their slots are filled in the first iteration, all 4 in the second.
    """
    outcome = ended(workload_of((0, 3, 2), (0, 3, 2)), Setup(slots=8, block_size=2)).outcome()
    assert (outcome.iterations, outcome.finished, outcome.preemptions) == (2, 2, 0)
    assert outcome.mean_batch == 2
    assert not outcome.is_steady
    shares = outcome.shares
    assert (shares.token, shares.reserved, shares.internal, shares.external) == (87.5, 12.5, 0, 0)


@pytest.mark.parametrize("policy", POLICIES)
def test_means_begin_with_the_500th_iteration_and_end_with_the_queue(policy: str) -> None:
    """Summed here again, an iteration at a time; before and behind, the memory is less full."""
    workload, setup = make_workload("alpaca", 600, 0), Setup(policy=policy, slots=4096)
    seen: set[int] = set()
    measured, begins, batches = 0, 0, 0
    sums = dict.fromkeys(("token", "reserved", "internal", "external"), 0)
    for simulation, usage in turns(workload, setup):
        assert usage is not None or simulation.is_done
        seen |= {running.request.number for running in simulation.running}
        for iteration in range(begins, simulation.now):
            if iteration < 500 or len(seen) == len(workload):
                continue
            stored = usage.stored + (iteration - begins) * usage.growth
            sums["token"] += stored
            sums["reserved"] += usage.held - usage.internal - stored
            sums["internal"] += usage.internal
            sums["external"] += setup.slots - usage.held
            batches += len(simulation.running)
            measured += 1
        begins = simulation.now
    outcome = simulation.outcome()
    assert outcome.iterations > 500 + measured > 500
    assert (outcome.is_steady, outcome.measured, outcome.measured_from) == (True, measured, 500)
    assert outcome.mean_batch == pytest.approx(batches / measured)
    shares = {part: 100 * total / measured / setup.slots for part, total in sums.items()}
    assert dataclasses.asdict(outcome.shares) == pytest.approx(shares)


def test_the_latest_arrival_is_preempted_and_computes_all_again() -> None:
    """3 blocks of 2. Both start with 1 block; in the second iteration two more are needed."""
    simulation = Simulation(workload_of((0, 2, 4), (0, 2, 4)), Setup(slots=6, block_size=2))
    seen = []
    while not simulation.is_done:
        now = simulation.now
        simulation.advance()
        seen.append([(r.request.number, r.stored(now)) for r in simulation.running])
    assert simulation.preemptions == 1
    assert seen == [
        [(0, 2), (1, 2)],
        [(0, 3)],  # the second gave up its block to the first
        [(0, 4)],
        [(0, 5)],
        [(1, 3)],  # and computes its prompt and its first output again
        [(1, 5)],  # two iterations later, for nothing happened in between
        [],
    ]
    assert simulation.finished == 2


def test_sharing_saves_the_full_blocks_of_the_prompt() -> None:
    """A prompt of 4 in blocks of 2 and one output: 4 answers hold 2 blocks, and would hold 8."""
    outcome = ended(workload_of((0, 4, 1)), Setup(slots=100, block_size=2, answers=4)).outcome()
    assert outcome.saved == 75
    assert ended(workload_of((0, 1, 1)), Setup(answers=4)).outcome().saved == 0


def test_requests_arrive_when_they_arrive() -> None:
    outcome = ended(workload_of((0, 1, 2), (90.0, 1, 2)), Setup(iteration_ms=45)).outcome()
    assert outcome.iterations == 90_000 / 45 + 2
    assert outcome.mean_batch == 1


@pytest.mark.parametrize(
    ("seconds", "iteration_ms", "iteration"),
    [
        (0.3, 100, 3),
        (0.300001, 100, 4),
        (0.299999, 100, 3),
        (0.0003, 0.1, 3),
        (0.3, 0.3, 1000),
        (8.2, 8.2, 1000),
        (1.001, 0.01, 100_100),
        (1e12, 0.01, 10**17),
        (0.0, 45, 0),
    ],
)
def test_a_request_is_there_in_the_iteration_that_begins_with_it(
    seconds: float, iteration_ms: float, iteration: int
) -> None:
    setup = Setup(iteration_ms=iteration_ms)
    outcome = ended(workload_of((0, 1, 1), (seconds, 1, 1)), setup).outcome()
    assert outcome.iterations == iteration + 1


@given(st.integers(0, 10**10), st.integers(10, 10**8))
def test_whole_microseconds_are_counted_exactly(arrival: int, iteration: int) -> None:
    clock = Clock(iteration / 1000)
    assert clock.first_iteration_at(arrival / 10**6) == -(-arrival // iteration)


def test_what_is_kept_does_not_grow_with_the_steps() -> None:
    long = ended(workload_of(*[(0, 1, 2000)] * 40), Setup(slots=2048, policy="oracle")).outcome()
    assert long.iterations > 10_000
    assert MOST_BINS / 2 < len(long.batches) <= MOST_BINS
    assert long.batches[0] == (0, 1.0)


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_held_in_the_end_does_not_grow_with_the_requests(policy: str) -> None:
    held = []
    for requests in (200, 2000):
        workload = make_workload("sharegpt", requests, 0)
        tracemalloc.start()
        simulation = ended(workload, Setup(policy=policy))
        held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert simulation.is_done
    assert held[1] <= 2 * held[0]


def test_a_pool_in_which_nothing_fits_turns_everyone_away() -> None:
    outcome = ended(workload_of((0, 5, 5)), Setup(slots=8, block_size=4, policy="max")).outcome()
    assert (outcome.finished, outcome.turned_away, outcome.mean_batch) == (0, 1, 0)
    assert outcome.shares.external == 100
