"""Experiment: move every block to another place, and let the tables follow. Does it matter?

A block table is all that knows where a block lies. So K and V may lie anywhere, as long as the
table says so.
"""

from dataclasses import dataclass

import torch

import kernels
from pagedkv.experiments.judging import is_identical, largest_difference
from pagedkv.experiments.scene import REQUEST, Pools, Scene, cycle_of
from pagedkv.trace.errors import agree


@dataclass(frozen=True, slots=True)
class ShuffleResult:
    """What came of it.

    ``places[old]`` is the new block id of each block of the pool; tables hold physical block ids by
    logical block, ``(request, table)`` for each request alive. ``left_behind_difference`` is the
    counter-check: the difference to dense if the blocks move and B's table does not follow.
    """

    places: tuple[int, ...]
    old_tables: tuple[tuple[str, tuple[int, ...]], ...]
    new_tables: tuple[tuple[str, tuple[int, ...]], ...]
    is_identical: bool
    difference_to_before: float
    difference_to_dense: float
    left_behind_difference: float

    @property
    def dense_agrees(self) -> bool:
        """Whether the dense reference has nothing to object to after the move."""
        return agree([self.difference_to_dense])


def run_shuffle(scene: Scene, seed: int = 1) -> ShuffleResult:
    """Attend where the blocks lie, move all of them, and attend again. ``seed`` draws the places.

    Raises ValueError for a negative seed.
    """
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    cache = scene.engine.cache
    places = cycle_of(cache.num_blocks, seed)
    moved = move_blocks(scene.pools, places)
    old = {name: cache.block_table(name) for name in cache.requests}
    new = {name: tuple(places[block] for block in table) for name, table in old.items()}
    before = scene.attend()
    after = scene.attend(moved, new[REQUEST])
    left_behind = scene.attend(moved, old[REQUEST])
    return ShuffleResult(
        places=places,
        old_tables=tuple(old.items()),
        new_tables=tuple(new.items()),
        is_identical=is_identical(before, after),
        difference_to_before=largest_difference(before, after),
        difference_to_dense=largest_difference(after, scene.dense),
        left_behind_difference=largest_difference(left_behind, scene.dense),
    )


def move_blocks(pools: Pools, places: tuple[int, ...]) -> Pools:
    """A pool with block ``old`` at ``places[old]``, moved by the kernel that copies on write.

    That kernel copies within one pool. So the blocks go from the first half of a double pool to
    their places in the second half, which held NaN.
    """
    num_blocks = len(places)
    double = Pools(*(torch.cat([x, torch.full_like(x, torch.nan)]) for x in (pools.k, pools.v)))
    pairs = [(old, num_blocks + new) for old, new in enumerate(places)]
    kernels.copy_blocks(double.k, double.v, pairs)
    return Pools(double.k[num_blocks:], double.v[num_blocks:])
