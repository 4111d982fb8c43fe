"""How the memory of one GPU splits: weights, overhead, KV blocks, and what is left alone."""

from dataclasses import dataclass
from math import floor

from pagedkv.planner.checking import exact
from pagedkv.planner.memory import GIB, GpuMemory
from pagedkv.planner.plan import Plan


@dataclass(frozen=True, slots=True)
class Split:
    """Bytes of each part, how many the engine may take in all, and how many there are.

    ``kv`` is in whole blocks, ``remainder`` makes no block, ``left`` the engine does not touch. The
    parts sum to ``total_bytes``, unless the model ``is_too_large``: then weights and overhead are
    more than the engine may take, and nothing is left for KV.
    """

    weights: int
    overhead: int
    kv: int
    remainder: int
    left: int
    budget_bytes: int
    total_bytes: int
    is_too_large: bool


def split_memory(plan: Plan) -> Split:
    """Split the memory of a plan; where it says KV outright, there is nothing but KV."""
    memory = plan.choices.memory
    weights = overhead = 0
    total = budget = memory.kv_bytes
    if isinstance(memory, GpuMemory):
        weights, overhead = _bytes(memory.weights_gib), _bytes(memory.overhead_gib)
        total = _bytes(memory.gpu_gib)
        budget = floor(exact(memory.gpu_gib) * exact(memory.utilization) * GIB)
    kv = plan.num_blocks * plan.block_bytes
    remainder = max(memory.kv_bytes, 0) - kv
    return Split(
        weights=weights,
        overhead=overhead,
        kv=kv,
        remainder=remainder,
        left=max(total - weights - overhead - kv - remainder, 0),
        budget_bytes=budget,
        total_bytes=total,
        is_too_large=memory.kv_bytes < 0,
    )


def _bytes(gib: float) -> int:
    return floor(exact(gib) * GIB)
