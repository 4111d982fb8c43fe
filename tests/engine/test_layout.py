"""Index arithmetic: the article's numbers, every block edge, and back again."""

import dataclasses
import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedkv import layout
from pagedkv.layout import (
    LogicalPlace,
    PhysicalPlace,
    blocks_needed,
    ceil_div,
    empty_slots,
    flat_slot,
    locate,
    pool_size,
    slot_mapping,
    split_position,
    split_slot,
)

block_sizes = st.integers(1, 32)


def test_the_worked_examples_in_the_docstrings_are_right() -> None:
    result = doctest.testmod(layout)
    assert result.attempted >= 10
    assert result.failed == 0


def test_position_6_of_the_table_3_0_is_slot_2_of_the_pool() -> None:
    place = locate(6, (3, 0), block_size=4)
    assert (place.logical_block, place.offset, place.block_id, place.flat_slot) == (1, 2, 0, 2)


def test_the_table_of_the_module_docstring_is_right() -> None:
    assert slot_mapping(range(7), (3, 0), 4) == (12, 13, 14, 15, 0, 1, 2)


@pytest.mark.parametrize("block_size", [1, 2, 3, 4, 5, 8, 16, 32])
def test_a_block_more_is_needed_only_past_a_full_one(block_size: int) -> None:
    for full in range(1, 5):
        tokens = full * block_size
        assert blocks_needed(tokens, block_size) == full
        assert empty_slots(tokens, block_size) == 0
        assert blocks_needed(tokens + 1, block_size) == full + 1
        assert empty_slots(tokens + 1, block_size) == block_size - 1


def test_a_capacity_that_is_no_multiple_leaves_slots_unusable() -> None:
    assert pool_size(24, 5) == layout.PoolSize(num_blocks=4, unusable_slots=4)
    assert pool_size(4, 32) == layout.PoolSize(num_blocks=0, unusable_slots=4)


@given(st.integers(0, 10**6), block_sizes)
def test_ceil_div_is_the_smallest_number_of_blocks_that_suffices(n: int, block_size: int) -> None:
    blocks = ceil_div(n, block_size)
    assert (blocks - 1) * block_size < n <= blocks * block_size


@given(st.integers(0, 10**6), block_sizes)
def test_empty_slots_fill_the_last_block_up(num_tokens: int, block_size: int) -> None:
    empty = empty_slots(num_tokens, block_size)
    assert 0 <= empty < block_size
    assert num_tokens + empty == blocks_needed(num_tokens, block_size) * block_size


@given(st.integers(0, 10**6), block_sizes)
def test_slot_and_place_are_each_others_inverse(slot: int, block_size: int) -> None:
    place = split_slot(slot, block_size)
    assert 0 <= place.offset < block_size
    assert flat_slot(place.block_id, place.offset, block_size) == slot


@given(st.integers(0, 10**6), block_sizes)
def test_a_position_is_whole_blocks_plus_an_offset(position: int, block_size: int) -> None:
    place = split_position(position, block_size)
    assert 0 <= place.offset < block_size
    assert place.logical_block * block_size + place.offset == position


@given(st.permutations(range(6)), block_sizes)
def test_no_two_positions_share_a_slot(block_table: list[int], block_size: int) -> None:
    slots = slot_mapping(range(6 * block_size), block_table, block_size)
    assert sorted(slots) == list(range(6 * block_size))


@given(st.permutations(range(6)), block_sizes)
def test_looking_up_one_by_one_or_all_at_once_is_the_same(
    block_table: list[int], block_size: int
) -> None:
    positions = range(6 * block_size)
    one_by_one = tuple(locate(p, block_table, block_size).flat_slot for p in positions)
    assert slot_mapping(positions, block_table, block_size) == one_by_one


@pytest.mark.parametrize("result", [split_position(6, 4), split_slot(6, 4), locate(6, (3, 0), 4)])
def test_results_cannot_be_changed(result: LogicalPlace | PhysicalPlace) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.offset = 0


@pytest.mark.parametrize("block_size", [0, -1, True, 4.0, "4", None])
def test_a_block_size_that_is_none_is_named(block_size: int) -> None:
    calls = [
        lambda: blocks_needed(6, block_size),
        lambda: empty_slots(6, block_size),
        lambda: pool_size(24, block_size),
        lambda: split_position(6, block_size),
        lambda: split_slot(6, block_size),
        lambda: flat_slot(0, 0, block_size),
        lambda: locate(0, (0,), block_size),
        lambda: slot_mapping(range(1), (0,), block_size),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"block_size .* at least 1, got {block_size!r}"):
            call()


def test_an_offset_outside_its_block_is_refused() -> None:
    with pytest.raises(ValueError, match="offset must be a whole number from 0 to 3, got 4"):
        flat_slot(2, 4, block_size=4)


def test_a_position_beyond_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="position must be a whole number from 0 to 7, got 8"):
        locate(8, (3, 0), block_size=4)
    with pytest.raises(ValueError, match=r"positions.stop .* from 0 to 8, got 9"):
        slot_mapping(range(9), (3, 0), block_size=4)


def test_a_negative_position_does_not_wrap_round() -> None:
    with pytest.raises(ValueError, match=r"position .* got -1"):
        locate(-1, (3, 0), block_size=4)
    with pytest.raises(ValueError, match=r"positions.start .* got -1"):
        slot_mapping(range(-1, 2), (3, 0), block_size=4)


def test_an_empty_table_holds_no_position() -> None:
    with pytest.raises(ValueError, match="position cannot be 0: there is none"):
        locate(0, (), block_size=4)
