"""The pool: a stack of free blocks, ref counts, and moves that cannot be made twice."""

import pytest

from pagedkv.block_pool import BlockPool


def test_a_new_pool_gives_its_blocks_in_order() -> None:
    pool = BlockPool(4)
    assert pool.free_blocks == (0, 1, 2, 3)
    assert [pool.take() for _ in range(4)] == [0, 1, 2, 3]


def test_a_set_order_is_the_order_in_which_blocks_are_given() -> None:
    pool = BlockPool(6, [3, 0, 1, 4, 5, 2])
    assert pool.free_blocks == (3, 0, 1, 4, 5, 2)
    assert [pool.take() for _ in range(6)] == [3, 0, 1, 4, 5, 2]


def test_the_callers_order_is_not_touched() -> None:
    order = [1, 0]
    BlockPool(2, order).take()
    assert order == [1, 0]


def test_a_fresh_block_has_one_owner() -> None:
    pool = BlockPool(2)
    assert pool.ref_count(pool.take()) == 1


def test_a_released_block_is_the_next_one_given() -> None:
    pool = BlockPool(3)
    first, second = pool.take(), pool.take()
    pool.release(first)
    pool.release(second)
    assert pool.free_blocks == (second, first, 2)
    assert pool.take() == second


def test_a_shared_block_is_free_only_after_its_last_release() -> None:
    pool = BlockPool(2)
    block_id = pool.take()
    pool.share(block_id)
    assert pool.ref_count(block_id) == 2
    pool.release(block_id)
    assert pool.ref_count(block_id) == 1
    assert block_id not in pool.free_blocks
    pool.release(block_id)
    assert pool.ref_count(block_id) == 0
    assert pool.free_blocks == (0, 1)


def test_looking_changes_nothing() -> None:
    pool = BlockPool(3)
    pool.take()
    for _ in range(2):
        assert (pool.num_blocks, pool.num_free, pool.free_blocks) == (3, 2, (1, 2))
        assert pool.ref_count(0) == 1
        assert pool.check() == []


def test_an_empty_pool_gives_nothing() -> None:
    pool = BlockPool(1)
    pool.take()
    with pytest.raises(RuntimeError, match="no block is free: the pool has 1"):
        pool.take()
    assert pool.check() == []
    with pytest.raises(RuntimeError, match="no block is free: the pool has 0"):
        BlockPool(0).take()


def test_a_free_block_can_be_neither_released_nor_shared() -> None:
    pool = BlockPool(2)
    for move in (pool.release, pool.share):
        with pytest.raises(ValueError, match="block_id must name a block in use, got 1"):
            move(1)
    assert (pool.free_blocks, pool.ref_count(1)) == ((0, 1), 0)


@pytest.mark.parametrize("block_id", [-1, 2, True, 0.0, "0", None])
def test_a_block_id_that_the_pool_has_not_is_named(block_id: int) -> None:
    pool = BlockPool(2)
    pool.take()
    for move in (pool.ref_count, pool.share, pool.release):
        with pytest.raises(ValueError, match=f"block_id .* from 0 to 1, got {block_id!r}"):
            move(block_id)
    assert (pool.free_blocks, pool.ref_count(0)) == ((1,), 1)


@pytest.mark.parametrize("num_blocks", [-1, True, 2.0, "2", None])
def test_a_number_of_blocks_that_is_none_is_named(num_blocks: int) -> None:
    with pytest.raises(ValueError, match=f"num_blocks .* at least 0, got {num_blocks!r}"):
        BlockPool(num_blocks)


@pytest.mark.parametrize(
    "free_order", [[0, 1], [0, 1, 1], [0, 1, 3], [0, 1, 2, 3], [-1, 0, 1], [0, True, 2], "012", 3]
)
def test_an_order_that_is_no_permutation_is_named(free_order: list[int]) -> None:
    with pytest.raises(ValueError, match="free_order must name each of the 3 block ids once") as e:
        BlockPool(3, free_order)
    assert repr(free_order) in str(e.value)


def test_check_sees_a_block_twice_on_the_free_list() -> None:
    pool = BlockPool(2)
    pool._free.append(1)
    assert pool.check() == ["P1 is on the free list 2 times"]


def test_check_sees_a_block_that_is_free_and_in_use() -> None:
    pool = BlockPool(2)
    pool._ref_counts[1] = 1
    assert pool.check() == ["P1 is on the free list with ref count 1"]


def test_check_sees_a_lost_block() -> None:
    pool = BlockPool(2)
    pool._free.remove(1)
    assert pool.check() == ["P1 is lost: ref count 0, not on the free list"]


def test_check_sees_a_ref_count_below_zero() -> None:
    pool = BlockPool(1)
    pool.take()
    pool._ref_counts[0] = -1
    assert pool.check() == ["P0 is lost: ref count -1, not on the free list"]


def test_check_sees_a_block_that_is_not_the_pools() -> None:
    pool = BlockPool(2)
    pool._free.append(7)
    assert pool.check() == ["P7 is on the free list, but the pool has no such block"]
