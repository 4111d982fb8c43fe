"""The capacity lab's workloads: how many requests run in one memory, reserved or in blocks.

A workload is made (``makers``) or read from a trace file (``trace_file``); a ``Simulation`` runs it
under a ``Setup``, iteration by iteration. Memory is given out by a buddy allocator on the lessons'
contiguous region (``reserving``) or in blocks (``paging``, which counts as ``BlockManager`` would).
No tensor, no model: what is counted is slots.
"""

from pagedkv.workloads.makers import RECIPES, make_workload
from pagedkv.workloads.outcome import Outcome, Shares
from pagedkv.workloads.ranges import RANGES
from pagedkv.workloads.setup import POLICIES, Setup
from pagedkv.workloads.simulation import Simulation
from pagedkv.workloads.workload import Request, Workload, WorkloadError

__all__ = [
    "POLICIES",
    "RANGES",
    "RECIPES",
    "Outcome",
    "Request",
    "Setup",
    "Shares",
    "Simulation",
    "Workload",
    "WorkloadError",
    "make_workload",
]
