"""The baseline: unbroken reservations, first fit, and what they waste."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedkv.contiguous import ContiguousRegion, Hole, OutOfSlots, Reservation
from pagedkv.events import Event, RequestRefused


def refusal(region: ContiguousRegion, name: str, declared_max: int) -> OutOfSlots:
    with pytest.raises(OutOfSlots) as caught:
        region.reserve(name, declared_max)
    return caught.value


def fragmented() -> ContiguousRegion:
    """24 slots: 4 free, 6 reserved, 8 free, 6 reserved."""
    region = ContiguousRegion(24)
    for name, size in (("A", 4), ("B", 6), ("C", 8), ("D", 6)):
        region.reserve(name, size)
    region.release("A")
    region.release("C")
    return region


def test_b_reserves_20_of_24_and_c_with_6_inputs_cannot_join() -> None:
    region = ContiguousRegion(24)
    region.reserve("B", 20)
    region.store("B", 6)
    assert region.reservations == (Reservation("B", start=0, reserved=20, stored=6),)
    assert region.reservations[0].empty == 14
    assert region.free_slots == region.largest_hole == 4
    assert not region.can_reserve(6)
    error = refusal(region, "C", 6)
    assert (error.needed, error.free, error.total, error.reason) == (6, 4, 24, "wait")
    assert str(error) == "C needs 6 slots in a row, 4 of 24 are free: it has to wait"


def test_what_is_reserved_is_taken_whether_it_is_stored_or_not() -> None:
    region = ContiguousRegion(24)
    region.reserve("B", 20)
    before = region.free_slots
    region.store("B", 20)
    assert region.free_slots == before == 4


def test_a_reservation_larger_than_the_region_never_fits() -> None:
    error = refusal(ContiguousRegion(24), "B", 25)
    assert error.reason == "never fits"
    assert str(error) == "B needs 25 slots in a row, the region has 24: it never fits"


def test_free_slots_that_are_scattered_do_not_help() -> None:
    region = fragmented()
    assert (region.free_slots, region.largest_hole) == (12, 8)
    assert region.holes == (Hole(0, 4), Hole(10, 8))
    assert not region.can_reserve(9)
    error = refusal(region, "E", 9)
    assert (error.needed, error.free, error.largest_hole, error.reason) == (9, 12, 8, "wait")
    assert str(error) == "E needs 9 slots in a row, 12 of 24 are free, 8 in a row: it has to wait"


def test_the_first_hole_that_is_large_enough_is_used() -> None:
    region = fragmented()
    assert region.reserve("E", 3).start == 0
    assert region.reserve("F", 5).start == 10
    assert [r.request for r in region.reservations] == ["E", "B", "F", "D"]


def test_a_tighter_hole_further_on_is_not_looked_for() -> None:
    region = ContiguousRegion(24)
    for name, size in (("A", 8), ("B", 6), ("C", 4), ("D", 6)):
        region.reserve(name, size)
    region.release("A")
    region.release("C")
    assert region.holes == (Hole(0, 8), Hole(14, 4))
    assert region.reserve("E", 4).start == 0


def test_a_hole_can_be_filled_to_the_last_slot() -> None:
    region = fragmented()
    assert region.reserve("E", 8) == Reservation("E", 10, 8)
    assert region.holes == (Hole(0, 4),)


def test_neighbouring_holes_become_one() -> None:
    region = fragmented()
    region.release("B")
    assert region.holes == (Hole(0, 18),)


def test_a_request_stores_no_more_than_it_reserved() -> None:
    region = ContiguousRegion(24)
    region.reserve("B", 8)
    region.store("B", 6)
    with pytest.raises(ValueError, match=r"n must be at most 2: B reserved 8 .* stored 6, got 3"):
        region.store("B", 3)
    assert region.store("B", 2).stored == 8


def test_a_view_cannot_be_changed_and_does_not_change() -> None:
    region = ContiguousRegion(8)
    view = region.reserve("B", 8)
    region.store("B", 6)
    assert view.stored == 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        view.stored = 8


def test_a_released_name_is_unknown_and_can_be_used_again() -> None:
    region = ContiguousRegion(8)
    region.reserve("B", 8)
    region.release("B")
    assert (region.reservations, region.free_slots) == ((), 8)
    with pytest.raises(ValueError, match=r"name .* got 'B'"):
        region.release("B")
    assert region.reserve("B", 3).stored == 0


def test_a_refusal_is_announced_in_slots_and_nothing_else_happens() -> None:
    events: list[Event] = []
    region = ContiguousRegion(24, on_event=events.append)
    region.reserve("B", 20)
    refusal(region, "C", 6)
    refusal(region, "D", 30)
    assert events == [
        RequestRefused("C", 6, 4, 24, "wait", "slots"),
        RequestRefused("D", 30, 4, 24, "never fits", "slots"),
    ]
    assert region.reservations == (Reservation("B", 0, 20),)


def test_a_region_of_no_slots_refuses_everyone_for_ever() -> None:
    region = ContiguousRegion(0)
    assert (region.holes, region.largest_hole, region.free_slots) == ((), 0, 0)
    assert refusal(region, "B", 1).reason == "never fits"


@pytest.mark.parametrize("number", [0, -1, True, 6.0, "6", None])
def test_a_number_that_counts_no_slots_is_named(number: int) -> None:
    region = ContiguousRegion(24)
    region.reserve("B", 8)
    calls = {
        "declared_max": [lambda: region.can_reserve(number), lambda: region.reserve("C", number)],
        "n": [lambda: region.store("B", number)],
    }
    for argument, bad_calls in calls.items():
        for call in bad_calls:
            with pytest.raises(ValueError, match=f"^{argument} .* at least 1, got {number!r}"):
                call()
    assert region.reservations == (Reservation("B", 0, 8),)


@pytest.mark.parametrize("capacity", [-1, True, 24.0, "24", None])
def test_a_capacity_that_is_none_is_named(capacity: int) -> None:
    with pytest.raises(ValueError, match=f"capacity .* at least 0, got {capacity!r}"):
        ContiguousRegion(capacity)


def test_names_unknown_or_taken_are_refused() -> None:
    region = ContiguousRegion(24)
    region.reserve("B", 8)
    with pytest.raises(ValueError, match="name must be new, and there is a reservation of 'B'"):
        region.reserve("B", 8)
    for call in (lambda: region.store("Z", 1), lambda: region.release("Z")):
        with pytest.raises(ValueError, match=r"name .* \(now: B\), got 'Z'"):
            call()
    for name in ("", None, 7, ["B"]):
        with pytest.raises(ValueError, match="name must be a text"):
            region.reserve(name, 8)
    assert region.reservations == (Reservation("B", 0, 8),)


@given(st.integers(0, 30), st.lists(st.tuples(st.booleans(), st.integers(1, 12)), max_size=40))
def test_reservations_never_overlap_and_first_fit_holds(
    capacity: int, moves: list[tuple[bool, int]]
) -> None:
    """Against a plain list of owners, a slot at a time."""
    region = ContiguousRegion(capacity)
    owners: list[str | None] = [None] * capacity
    for number, (coming, size) in enumerate(moves):
        starts = [
            start
            for start in range(capacity - size + 1)
            if owners[start : start + size] == [None] * size
        ]
        if not coming and region.reservations:
            leaving = region.reservations[size % len(region.reservations)].request
            region.release(leaving)
            owners = [None if owner == leaving else owner for owner in owners]
        elif starts:
            assert region.can_reserve(size)
            assert region.reserve(str(number), size).start == starts[0]
            owners[starts[0] : starts[0] + size] = [str(number)] * size
        else:
            assert not region.can_reserve(size)
            expected = "never fits" if size > capacity else "wait"
            assert refusal(region, str(number), size).reason == expected
        assert region.free_slots == owners.count(None)
        for r in region.reservations:
            assert owners[r.start : r.stop] == [r.request] * r.reserved
