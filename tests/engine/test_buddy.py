"""The buddy allocator: powers of two, aligned and apart, and whole again when all is free."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedkv.contiguous import ContiguousRegion, Hole, OutOfSlots
from pagedkv.contiguous_buddy import Buddy

MOVES = st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=60)


def region_of(capacity: int) -> ContiguousRegion:
    return ContiguousRegion(capacity, place=Buddy)


def test_a_pool_that_is_no_power_of_two_is_cut_into_the_largest_that_fit() -> None:
    holes = Buddy(15_728).holes
    assert [hole.size for hole in holes] == [8192, 4096, 2048, 1024, 256, 64, 32, 16]
    assert [hole.start for hole in holes] == [0, 8192, 12288, 14336, 15360, 15616, 15680, 15712]


def test_a_reservation_costs_the_next_power_of_two() -> None:
    region = region_of(1024)
    region.reserve("B", 300)
    assert region.reservations[0].reserved == 300
    assert region.free_slots == 1024 - 512
    assert region.holes == (Hole(512, 512),)


def test_a_chunk_is_cut_from_the_smallest_that_will_do() -> None:
    placement = Buddy(24)
    assert placement.take(3) == 16
    assert placement.holes == (Hole(0, 16), Hole(20, 4))


def test_halves_that_are_no_buddies_stay_two() -> None:
    """Slots 4 to 11 are free in a row, but are the ends of two different chunks of 8."""
    region = region_of(16)
    for name in "ABCD":
        region.reserve(name, 4)
    region.release("B")
    region.release("C")
    assert region.holes == (Hole(4, 4), Hole(8, 4))
    with pytest.raises(OutOfSlots) as caught:
        region.reserve("E", 8)
    assert (caught.value.free, caught.value.largest_hole, caught.value.reason) == (8, 4, "wait")


def test_more_than_the_largest_chunk_never_fits_however_much_is_free() -> None:
    with pytest.raises(OutOfSlots, match="needs 20 slots in a row, the region has 16") as caught:
        region_of(24).reserve("B", 20)
    assert (caught.value.free, caught.value.reason) == (24, "never fits")


def test_an_empty_region_refuses_everyone() -> None:
    with pytest.raises(OutOfSlots, match="never fits"):
        region_of(0).reserve("B", 1)


@given(st.integers(0, 200), MOVES)
def test_chunks_are_aligned_and_apart_and_become_whole_again(
    capacity: int, moves: list[tuple[bool, int]]
) -> None:
    """Against a plain list of owners, a slot at a time."""
    placement, whole = Buddy(capacity), Buddy(capacity).holes
    owners: list[int | None] = [None] * capacity
    held: dict[int, tuple[int, int]] = {}
    for number, (coming, size) in enumerate(moves):
        if not coming and held:
            leaving = list(held)[size % len(held)]
            placement.give_back(*held.pop(leaving))
            owners = [None if owner == leaving else owner for owner in owners]
        else:
            chunk = 1 << (size - 1).bit_length()
            fits = any(hole.size >= chunk for hole in placement.holes)
            start = placement.take(size)
            assert (start is not None) == fits
            if start is not None:
                assert start % chunk == 0
                assert owners[start : start + chunk] == [None] * chunk
                owners[start : start + chunk] = [number] * chunk
                held[number] = (start, size)
        free = [slot for hole in placement.holes for slot in range(hole.start, hole.stop)]
        assert free == [slot for slot, owner in enumerate(owners) if owner is None]
        assert all(hole.start % hole.size == 0 for hole in placement.holes)
        assert all(hole.size & (hole.size - 1) == 0 for hole in placement.holes)
    for start, size in held.values():
        placement.give_back(start, size)
    assert placement.holes == whole
