"""Poison in every slot without a stored position changes no bit, and would be seen if read."""

import math

import pytest

from pagedkv.experiments import Scene, run_poison
from pagedkv.experiments import poison as poison_module
from pagedkv.experiments.judging import is_identical
from pagedkv.experiments.poison import LARGE, poisoned, unused_slots
from pagedkv.trace.errors import DENSE_TOLERANCE

BLOCK_SIZES = [1, 3, 4, 16]


@pytest.mark.parametrize(
    ("block_size", "layer"), [*((size, 0) for size in BLOCK_SIZES), (4, 1), (4, 2)]
)
def test_neither_nan_nor_large_numbers_change_a_bit(block_size, layer, scene_of):
    result = run_poison(scene_of(block_size, layer))
    assert result.nan_is_identical
    assert result.large_is_identical
    assert result.all_identical
    assert result.difference_to_dense <= DENSE_TOLERANCE
    assert result.dense_agrees


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_every_slot_is_either_stored_or_poisoned(block_size, scene_of):
    scene = scene_of(block_size)
    result = run_poison(scene)
    pools = poisoned(scene, math.nan)
    assert int(pools.k.isnan().all(dim=(2, 3)).sum()) == result.num_poisoned
    assert int(pools.v.isnan().all(dim=(2, 3)).sum()) == result.num_poisoned
    assert result.num_poisoned + len(scene.stored_slots()) == result.num_slots
    assert result.num_in_free_blocks == scene.engine.cache.num_free_blocks * block_size


@pytest.mark.parametrize("block_size", [3, 4, 16])
def test_one_slot_too_far_and_the_answer_is_nan(block_size, scene_of):
    """The experiment can fail: the poison is where a slip of one would find it."""
    scene = scene_of(block_size)
    too_far = scene.context_len + 1
    assert scene.attend(poisoned(scene, math.nan), context_len=too_far).out.isnan().all()
    assert run_poison(scene).one_too_far_is_nan is True
    with_large = scene.attend(poisoned(scene, LARGE), context_len=too_far)
    assert not is_identical(with_large, scene.attend(context_len=too_far))


@pytest.mark.parametrize("poison", [math.nan, LARGE])
def test_either_poison_in_a_stored_slot_decides(poison, scene_of, monkeypatch):
    """A poison that reaches a position of B, whichever it is, is the one that is reported."""

    def reach_position_12(scene, value):
        pools = poisoned(scene, value)
        if value is poison:
            pools.v[scene.table[-1], 0] = value
        return pools

    monkeypatch.setattr(poison_module, "poisoned", reach_position_12)
    result = run_poison(scene_of(4))
    assert result.nan_is_identical == (poison is LARGE)
    assert result.large_is_identical == (poison is not LARGE)
    assert not result.all_identical
    assert not result.difference_to_dense <= DENSE_TOLERANCE
    assert not result.dense_agrees


def test_a_kernel_that_reads_one_slot_too_far_fails_the_experiment(scene_of, monkeypatch):
    """For either poison: a context one too long where the pool is not the scene's own."""
    attend = Scene.attend

    def attend_too_far(scene, pools=None, table=None, context_len=None):
        return attend(scene, pools, table, scene.context_len + (pools is not None))

    monkeypatch.setattr(Scene, "attend", attend_too_far)
    result = run_poison(scene_of(4))
    assert not result.nan_is_identical
    assert not result.large_is_identical
    assert math.isnan(result.difference_to_dense)
    assert not result.dense_agrees


def test_where_the_last_block_is_full_there_is_no_slot_too_far(scene_of):
    assert run_poison(scene_of(1)).one_too_far_is_nan is None


def test_a_stored_slot_that_was_poisoned_would_be_seen(scene_of):
    scene = scene_of(4)
    pools = poisoned(scene, math.nan)
    assert scene.engine.cache.locate("B", 12).flat_slot not in unused_slots(scene)
    pools.k[scene.table[-1], 0] = math.nan  # position 12
    assert not is_identical(scene.attend(pools), scene.attend())
