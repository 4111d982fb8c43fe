"""The scene that experiments start from: real, scattered, full of old bytes, and left alone."""

from itertools import pairwise

import pytest
import torch

from pagedkv.experiments import FAULTS, build_scene, run_fault, run_poison, run_shuffle
from pagedkv.experiments.judging import largest_difference
from pagedkv.experiments.poison import unused_slots
from pagedkv.experiments.replay import replay
from pagedkv.settings import SettingsError
from pagedkv.trace.errors import DENSE_TOLERANCE

BLOCK_SIZES = [1, 3, 4, 16]


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_the_pool_is_sound_and_its_attention_is_the_dense_one(block_size, scene_of):
    scene = scene_of(block_size)
    assert scene.engine.cache.check() == []
    assert scene.engine.requests == ("B", "C", "B2")
    assert largest_difference(scene.attend(), scene.dense) <= DENSE_TOLERANCE


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_there_are_free_blocks_and_old_bytes_in_every_slot(block_size, scene_of):
    scene = scene_of(block_size)
    assert scene.engine.cache.num_free_blocks > 0
    assert len(unused_slots(scene)) >= scene.engine.cache.num_free_blocks * block_size
    assert scene.pools.k.isfinite().all() and scene.pools.v.isfinite().all()


@pytest.mark.parametrize("block_size", [1, 3, 4])
def test_the_blocks_of_a_request_lie_apart(block_size, scene_of):
    table = scene_of(block_size).table
    assert any(after != before + 1 for before, after in pairwise(table))


@pytest.mark.parametrize("block_size", [3, 4])
def test_the_last_block_has_unused_slots_and_the_fork_was_copied_from(block_size, scene_of):
    scene = scene_of(block_size)
    assert scene.context_len % block_size
    tables = (scene.table, scene.engine.cache.block_table("B2"))
    assert len(set(tables[0]) - set(tables[1])) >= 2


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_a_replay_without_a_fault_ends_in_the_real_pool(block_size, scene_of):
    scene = scene_of(block_size)
    again = replay(scene, scene.memory_events)
    assert torch.equal(again.k, scene.pools.k)
    assert torch.equal(again.v, scene.pools.v)


def test_no_experiment_changes_the_scene(scene_of):
    scene = scene_of(4)
    before = scene.engine.cache.k_cache.clone(), scene.engine.cache.v_cache.clone(), scene.table
    run_poison(scene)
    run_shuffle(scene)
    for fault in FAULTS:
        run_fault(scene, fault)
    assert torch.equal(scene.engine.cache.k_cache, before[0])
    assert torch.equal(scene.engine.cache.v_cache, before[1])
    assert scene.table == before[2]


@pytest.mark.parametrize("block_size", [0, 33])
def test_a_block_size_that_no_learner_can_set_is_refused(block_size, model):
    with pytest.raises(SettingsError, match="block_size"):
        build_scene(block_size, model=model)


def test_a_layer_that_the_model_lacks_is_refused(model):
    with pytest.raises(ValueError, match="layer is 3; the model has 0 to 2"):
        build_scene(4, 3, model)
