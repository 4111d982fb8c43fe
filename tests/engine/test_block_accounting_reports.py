"""What went wrong in other engines' block accounting, and the right behaviour, one report a test.

Restated for a pool P0 to P5 with block size 4. The kernels' and the tensors' share of these reports
is tested beside them.
"""

import pytest

from pagedkv.block_manager import BlockManager, OutOfBlocks

BLOCK_SIZES = [1, 2, 3, 4, 5, 8, 16, 32]


def test_token_7_of_the_table_10_11_is_in_slot_47_not_43() -> None:
    """MinivLLM 76: the last token overwrote an earlier one."""
    manager = BlockManager(12, 4, [10, 11, *range(10)])
    manager.admit("B", 7)
    assert manager.append("B").slots == (47,)
    assert manager.block_table("B") == (10, 11)


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
@pytest.mark.parametrize("length", [1, 3, 4, 5, 7, 8, 9])
def test_no_token_ever_overwrites_another(length: int, block_size: int) -> None:
    """MinivLLM 76: at every length round an edge and every block size."""
    manager = BlockManager(12, block_size, [10, 11, *range(10)])
    manager.admit("B", 1)
    slots = [manager.locate("B", 0).flat_slot]
    for _ in range(length - 1):
        slots += manager.append("B").slots
    order = [10, 11, *range(10)]
    expected = [order[p // block_size] * block_size + p % block_size for p in range(length)]
    assert slots == expected
    assert len(set(slots)) == length


def test_with_no_free_block_the_fourth_token_fits_and_the_fifth_is_refused() -> None:
    """MinivLLM 75 and 85: it was the other way round."""
    manager = BlockManager(2, 4)
    manager.admit("B", 3)
    manager.admit("C", 4)
    assert manager.num_free_blocks == 0
    assert manager.can_append("B")
    assert manager.append("B").slots == (3,)
    assert not manager.can_append("B")
    with pytest.raises(OutOfBlocks, match="needs 1 block, none of 2 is free"):
        manager.append("B")
    assert (manager.num_tokens("B"), manager.block_table("B")) == (4, (0,))
    manager.free("C")
    assert manager.append("B").slots == (4,)


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_a_block_is_taken_for_the_first_token_past_a_full_one(block_size: int) -> None:
    """nano-vllm 240 and 66: not when the last block fills, and a full prompt is no special case."""
    manager = BlockManager(3, block_size)
    manager.admit("B", block_size)
    assert manager.block_table("B") == (0,)
    assert manager.append("B").new_blocks == (1,)
    for _ in range(block_size - 1):
        assert manager.append("B").new_blocks == ()
    assert manager.num_free_blocks == 1
    assert manager.append("B").new_blocks == (2,)


def test_no_block_is_given_to_two_requests_after_one_was_freed_twice() -> None:
    """vLLM 42571: a block counted free twice was later shared by accident."""
    manager = BlockManager(6, 4)
    manager.admit("B", 6)
    manager.free("B")
    with pytest.raises(ValueError, match="got 'B'"):
        manager.free("B")
    assert sorted(manager.free_blocks) == [0, 1, 2, 3, 4, 5]
    manager.admit("C", 12)
    manager.admit("D", 12)
    assert sorted(manager.block_table("C") + manager.block_table("D")) == [0, 1, 2, 3, 4, 5]


def test_when_both_sharers_end_a_block_is_free_once() -> None:
    """vLLM 42571, with a shared block."""
    manager = BlockManager(6, 4)
    manager.admit("R1", 6)
    manager.fork("R1", "R2")
    manager.free("R1")
    assert manager.num_free_blocks == 4
    manager.free("R2")
    assert sorted(manager.free_blocks) == [0, 1, 2, 3, 4, 5]


def test_a_new_block_counts_one_and_none_is_lost_when_all_have_ended() -> None:
    """MinivLLM 87: a count that started at 0 went to -1, and the block never came back."""
    manager = BlockManager(6, 4)
    manager.admit("B", 4)
    manager.append("B")
    manager.admit("C", 9)
    assert [manager.ref_count(block_id) for block_id in range(6)] == [1, 1, 1, 1, 1, 0]
    manager.free("B")
    manager.free("C")
    assert [manager.ref_count(block_id) for block_id in range(6)] == [0] * 6
    assert sorted(manager.free_blocks) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("prompt", [4, 8])
def test_a_fork_at_a_full_block_copies_nothing_and_each_takes_a_block(prompt: int) -> None:
    """TensorRT-LLM 14945: shared and private were mixed up when a new block was due."""
    manager = BlockManager(6, 4)
    manager.admit("R1", prompt)
    manager.fork("R1", "R2")
    shared = manager.block_table("R1")
    plans = [manager.append("R1"), manager.append("R2")]
    assert [plan.copies for plan in plans] == [(), ()]
    assert [len(plan.new_blocks) for plan in plans] == [1, 1]
    assert manager.block_table("R1")[:-1] == manager.block_table("R2")[:-1] == shared
    assert manager.block_table("R1")[-1] != manager.block_table("R2")[-1]
    assert all(manager.ref_count(block_id) == 2 for block_id in shared)


def test_only_the_partial_tail_is_copied_and_full_blocks_stay_shared() -> None:
    """TensorRT-LLM 14945: the other half."""
    manager = BlockManager(6, 4)
    manager.admit("R1", 10)
    manager.fork("R1", "R2")
    assert manager.append("R2").copies == ((2, 3),)
    assert manager.block_table("R1") == (0, 1, 2)
    assert manager.block_table("R2") == (0, 1, 3)
    assert [manager.ref_count(block_id) for block_id in range(4)] == [2, 2, 1, 1]


def test_a_table_has_no_tail_left_of_a_longer_one() -> None:
    """vLLM 42273: rows kept the ids of freed blocks behind their end."""
    manager = BlockManager(6, 4)
    manager.admit("B", 24)
    manager.free("B")
    manager.admit("B", 5)
    assert manager.block_table("B") == (0, 1)


def test_a_reused_block_belongs_to_its_new_request_alone() -> None:
    """nano-vllm 163: a reused block was taken for what it held before."""
    manager = BlockManager(6, 4)
    manager.admit("B", 8)
    manager.free("B")
    manager.admit("D", 2)
    assert manager.block_table("D") == (0,)
    assert (manager.ref_count(0), manager.num_tokens("D")) == (1, 2)
    with pytest.raises(ValueError, match=r"position .* from 0 to 1, got 2"):
        manager.locate("D", 2)


def test_a_prompt_larger_than_the_pool_is_refused_at_once_and_in_other_words() -> None:
    """vLLM 35541 and 1534: it waited for ever."""
    manager = BlockManager(6, 4)
    with pytest.raises(OutOfBlocks, match="needs 7 blocks, 6 of 6 are free") as never:
        manager.admit("B", 25)
    manager.admit("C", 16)
    with pytest.raises(OutOfBlocks, match="needs 3 blocks, 2 of 6 are free") as wait:
        manager.admit("B", 9)
    assert (never.value.reason, wait.value.reason) == ("never fits", "wait")
