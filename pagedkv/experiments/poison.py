"""Experiment: poison every slot that holds no stored position. Does the answer notice?

Freed blocks keep their bytes, and the last block of a request has slots that nobody has written.
A reader who multiplies them by a weight of 0 is right only as long as they are finite: 0 × NaN is
NaN. Our kernel never loads them, so not one bit of its answer may change.
"""

import math
from dataclasses import dataclass

import torch

from pagedkv.cache import Attended
from pagedkv.experiments.judging import is_identical, largest_difference
from pagedkv.experiments.scene import Pools, Scene
from pagedkv.layout import empty_slots, split_slot
from pagedkv.trace.errors import agree, worst

LARGE = 1e4  # finite, and hundreds of times what a real K or V holds


@dataclass(frozen=True, slots=True)
class PoisonResult:
    """What came of it.

    ``num_poisoned`` slots: ``num_in_free_blocks`` of them in free blocks, the others in last blocks
    of requests. ``nan_is_identical`` and ``large_is_identical`` say whether output and weights are
    bit for bit those from before; ``difference_to_dense`` is the larger of both. The counter-check
    is ``one_too_far_is_nan``, reading on by one slot: None where B's last block is full, so that
    there is none.
    """

    num_slots: int
    num_poisoned: int
    num_in_free_blocks: int
    nan_is_identical: bool
    large_is_identical: bool
    difference_to_dense: float
    one_too_far_is_nan: bool | None

    @property
    def all_identical(self) -> bool:
        """Whether the answer noticed neither poison."""
        return self.nan_is_identical and self.large_is_identical

    @property
    def dense_agrees(self) -> bool:
        """Whether the dense reference has nothing to object to, with either poison."""
        return agree([self.difference_to_dense])


def run_poison(scene: Scene) -> PoisonResult:
    """Attend before, with NaN and with ``LARGE`` in all unused slots of a copy of the pool."""
    unused = unused_slots(scene)
    free = set(scene.engine.cache.free_blocks)
    before = scene.attend()
    with_nan = scene.attend(poisoned(scene, math.nan))
    with_large = scene.attend(poisoned(scene, LARGE))
    return PoisonResult(
        num_slots=scene.engine.cache.num_blocks * scene.block_size,
        num_poisoned=len(unused),
        num_in_free_blocks=sum(split_slot(s, scene.block_size).block_id in free for s in unused),
        nan_is_identical=is_identical(before, with_nan),
        large_is_identical=is_identical(before, with_large),
        difference_to_dense=worst(
            largest_difference(poisoned_answer, scene.dense)
            for poisoned_answer in (with_nan, with_large)
        ),
        one_too_far_is_nan=_one_too_far_is_nan(scene),
    )


def unused_slots(scene: Scene) -> tuple[int, ...]:
    """Flat slots without a stored position of any request: of free blocks, and of last ones."""
    stored = scene.stored_slots()
    num_slots = scene.engine.cache.num_blocks * scene.block_size
    return tuple(slot for slot in range(num_slots) if slot not in stored)


def poisoned(scene: Scene, value: float) -> Pools:
    """A copy of the layer's pool with ``value`` in every unused slot."""
    pools = scene.pools.clone()
    slots = torch.tensor(unused_slots(scene), dtype=torch.int64, device=pools.k.device)
    for pool in (pools.k, pools.v):
        pool.flatten(0, 1)[slots] = value  # [num_blocks * block_size, num_kv_heads, head_dim]
    return pools


def _one_too_far_is_nan(scene: Scene) -> bool | None:
    """Whether the poison would show, if the kernel read one slot more than it should."""
    if empty_slots(scene.context_len, scene.block_size) == 0:
        return None
    over_read: Attended = scene.attend(poisoned(scene, math.nan), context_len=scene.context_len + 1)
    return bool(over_read.out.isnan().all())
