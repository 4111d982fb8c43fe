"""Blocks may lie anywhere, as long as the tables follow."""

import pytest
import torch

from pagedkv.experiments import run_shuffle, shuffle
from pagedkv.experiments.shuffle import move_blocks
from pagedkv.trace.errors import DENSE_TOLERANCE

BLOCK_SIZES = [1, 3, 4, 16]


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_moved_blocks_give_the_same_answer_bit_for_bit(block_size, scene_of):
    result = run_shuffle(scene_of(block_size))
    assert result.is_identical
    assert result.difference_to_before == 0
    assert result.difference_to_dense <= DENSE_TOLERANCE
    assert result.dense_agrees


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_every_block_moves_and_every_table_follows(block_size, scene_of):
    scene = scene_of(block_size)
    result = run_shuffle(scene)
    assert sorted(result.places) == list(range(scene.engine.cache.num_blocks))
    assert all(old != new for old, new in enumerate(result.places))
    old, new = dict(result.old_tables), dict(result.new_tables)
    assert set(old) == set(new) == {"B", "C", "B2"}
    for name, table in old.items():
        assert table == scene.engine.cache.block_table(name)
        assert new[name] == tuple(result.places[block] for block in table)


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_a_table_left_behind_would_be_seen(block_size, scene_of):
    assert not run_shuffle(scene_of(block_size)).left_behind_difference <= 1e-3


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_a_shuffle_whose_tables_do_not_follow_fails(block_size, scene_of, monkeypatch):
    """The blocks go elsewhere than the tables say: one place further on."""

    def move_further(pools, places):
        return move_blocks(pools, (*places[1:], places[0]))

    monkeypatch.setattr(shuffle, "move_blocks", move_further)
    assert_fails(run_shuffle(scene_of(block_size)))


def test_a_shuffle_that_moves_nothing_fails(scene_of, monkeypatch):
    """It is the moved pool that is read, through the new tables."""
    monkeypatch.setattr(shuffle, "move_blocks", lambda pools, places: pools)
    result = run_shuffle(scene_of(4))
    assert_fails(result)
    assert result.left_behind_difference <= DENSE_TOLERANCE


def assert_fails(result):
    assert not result.is_identical
    assert not result.difference_to_before <= DENSE_TOLERANCE
    assert not result.difference_to_dense <= DENSE_TOLERANCE
    assert not result.dense_agrees


def test_the_second_pool_holds_the_same_blocks_elsewhere(scene_of):
    scene = scene_of(4)
    places = run_shuffle(scene).places
    moved = move_blocks(scene.pools, places)
    assert torch.equal(moved.k[list(places)], scene.pools.k)
    assert torch.equal(moved.v[list(places)], scene.pools.v)


def test_another_seed_draws_other_places(scene_of):
    first, second = (run_shuffle(scene_of(4), seed) for seed in (1, 2))
    assert first.places != second.places
    assert second.is_identical


def test_a_negative_seed_is_refused(scene_of):
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        run_shuffle(scene_of(4), seed=-1)
