"""Blocks with and without sharing, and the pool that is made to measure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedkv.block_manager import BlockManager
from pagedkv.generate.pool import PoolSettings, most_blocks
from pagedkv.generate.usage import Moment, unshared_blocks
from pagedkv.settings import Settings, SettingsError


@given(st.integers(1, 40), st.integers(1, 8), st.integers(1, 30), st.integers(1, 17))
def test_the_pool_is_exactly_full_at_the_end(num_prompt, num_answers, length, block_size):
    num_blocks = most_blocks(num_prompt, num_answers, length, block_size)
    manager = BlockManager(num_blocks, block_size)
    manager.admit("R1", num_prompt)
    names = [f"R{number + 1}" for number in range(num_answers)]
    for name in names[1:]:
        manager.fork("R1", name)
    for _ in range(length - 1):
        for name in names:
            manager.append(name)
    assert manager.num_free_blocks == 0


@given(st.lists(st.integers(0, 50), max_size=8), st.integers(1, 17))
def test_without_sharing_everybody_fills_blocks_of_its_own(lengths, block_size):
    blocks = {
        (who, position // block_size) for who, n in enumerate(lengths) for position in range(n)
    }
    assert unshared_blocks(lengths, block_size) == len(blocks)


def test_the_saving_is_counted_and_a_share_of_what_it_would_be():
    moment = Moment(1, 4, shared=15, unshared=60, reserved=80, copies=())
    assert (moment.saved, moment.saved_percent) == (45, 75.0)


def test_a_pool_may_be_larger_than_a_lesson_offers():
    settings = PoolSettings(block_size=4, capacity=2000, prompt_length=100, seed=0)
    assert (settings.num_blocks, settings.unusable_slots) == (500, 0)
    with pytest.raises(SettingsError):
        Settings(block_size=4, capacity=2000)
    with pytest.raises(ValueError, match="block_size"):
        PoolSettings(block_size=0)
