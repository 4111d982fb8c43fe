"""Poison in every slot without a stored position changes no bit, and would be seen if read."""

import math

import pytest

from pagedkv.experiments import run_poison
from pagedkv.experiments.judging import is_identical
from pagedkv.experiments.poison import poisoned, unused_slots
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
    with_large = scene.attend(poisoned(scene, 1e4), context_len=too_far)
    assert not is_identical(with_large, scene.attend(context_len=too_far))


def test_where_the_last_block_is_full_there_is_no_slot_too_far(scene_of):
    assert run_poison(scene_of(1)).one_too_far_is_nan is None


def test_a_stored_slot_that_was_poisoned_would_be_seen(scene_of):
    scene = scene_of(4)
    pools = poisoned(scene, math.nan)
    assert scene.engine.cache.locate("B", 12).flat_slot not in unused_slots(scene)
    pools.k[scene.table[-1], 0] = math.nan  # position 12
    assert not is_identical(scene.attend(pools), scene.attend())
