"""Experiments on the real cache, each judged by the dense reference: one click, one answer.

``build_scene`` makes the pool that three of them share. ``run_poison`` and ``run_shuffle`` change
what must not matter, ``run_block_sizes`` what only moves things about, and ``run_fault`` breaks the
cache in a way that somebody's cache has been broken. None changes a scene or anything global.

Read in this order: ``scene``, ``judging``, ``poison``, ``shuffle``, ``block_sizes``; then
``faults``, ``wrong_reads``, ``replay``, ``wrong_writes``. What came of it is told by ``captions``
and ``tables``.
"""

from pagedkv.experiments.block_sizes import AtBlockSize, BlockSizesResult, run_block_sizes
from pagedkv.experiments.catalogue import FAULTS, find_fault
from pagedkv.experiments.faults import Fault, FaultResult, run_fault
from pagedkv.experiments.poison import PoisonResult, run_poison
from pagedkv.experiments.reports import Report
from pagedkv.experiments.scene import Scene, build_scene
from pagedkv.experiments.shuffle import ShuffleResult, run_shuffle

__all__ = [
    "FAULTS",
    "AtBlockSize",
    "BlockSizesResult",
    "Fault",
    "FaultResult",
    "PoisonResult",
    "Report",
    "Scene",
    "ShuffleResult",
    "build_scene",
    "find_fault",
    "run_block_sizes",
    "run_fault",
    "run_poison",
    "run_shuffle",
]
