"""How the memory of one GPU splits: weights, overhead, KV blocks, and what is left alone."""

from dataclasses import dataclass
from math import floor

from pagedkv.planner.checking import exact
from pagedkv.planner.memory import GIB, GpuMemory
from pagedkv.planner.plan import Plan

PARTS = ("weights", "overhead", "kv", "remainder", "left")


@dataclass(frozen=True, slots=True)
class Split:
    """Bytes of each of ``PARTS``, and how many the engine may take in all.

    ``kv`` is in whole blocks, ``remainder`` makes no block, ``left`` the engine does not touch. The
    parts sum to ``total_bytes``, unless the model is too large: then weights and overhead are more
    than ``budget_bytes``, and nothing is left for KV.
    """

    parts: tuple[int, ...]
    budget_bytes: int
    total_bytes: int

    @property
    def is_too_large(self) -> bool:
        """Whether weights and overhead alone are more than the engine may take."""
        return self.parts[0] + self.parts[1] > self.budget_bytes


def split_memory(plan: Plan) -> Split:
    """Split the memory of a plan; where it says KV outright, there is nothing but KV."""
    memory = plan.choices.memory
    kv = plan.num_blocks * plan.block_bytes
    remainder = max(memory.kv_bytes, 0) - kv
    if not isinstance(memory, GpuMemory):
        return Split((0, 0, kv, remainder, 0), memory.kv_bytes, memory.kv_bytes)
    total = floor(exact(memory.gpu_gib) * GIB)
    budget = floor(exact(memory.gpu_gib) * exact(memory.utilization) * GIB)
    weights, overhead = (
        floor(exact(gib) * GIB) for gib in (memory.weights_gib, memory.overhead_gib)
    )
    left = max(total - weights - overhead - kv - remainder, 0)
    return Split((weights, overhead, kv, remainder, left), budget, total)
