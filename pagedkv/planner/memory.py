"""The memory of one GPU: what is left in it for KV, to the byte."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from pagedkv.planner.checking import exact, require_measure

GIB = 2**30
MOST_GIB = 1_000_000.0


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """One GPU of ``gpu_gib``, of which an engine takes the share ``utilization`` (0 to 1].

    From that go ``weights_gib``, the weights that lie on this one GPU, and ``overhead_gib``: the
    activations at their peak, CUDA graphs and whatever else is not torch's. The share is one of
    the whole memory, as in vLLM, not of what is free. Raises ``PlanError`` for what cannot be.
    """

    gpu_gib: float
    utilization: float
    weights_gib: float
    overhead_gib: float

    def __post_init__(self) -> None:
        require_measure("gpu_gib", self.gpu_gib, 0, MOST_GIB, above=True)
        require_measure("utilization", self.utilization, 0, 1, above=True)
        require_measure("weights_gib", self.weights_gib, 0, MOST_GIB)
        require_measure("overhead_gib", self.overhead_gib, 0, MOST_GIB)

    @property
    def kv_bytes(self) -> int:
        """What is left for KV; below 0 where weights and overhead do not fit."""
        return floor(self.exact_gib * GIB)

    @property
    def exact_gib(self) -> Fraction:
        """The GiB left for KV, as the numbers are written."""
        taken = exact(self.gpu_gib) * exact(self.utilization)
        return taken - exact(self.weights_gib) - exact(self.overhead_gib)


@dataclass(frozen=True, slots=True)
class KvMemory:
    """``kv_gib`` of one GPU are for KV, as ``kv_cache_memory_bytes`` tells vLLM outright.

    Raises ``PlanError`` for what cannot be.
    """

    kv_gib: float

    def __post_init__(self) -> None:
        require_measure("kv_gib", self.kv_gib, 0, MOST_GIB, above=True)

    @property
    def kv_bytes(self) -> int:
        """The bytes of it."""
        return floor(self.exact_gib * GIB)

    @property
    def exact_gib(self) -> Fraction:
        """The GiB for KV, as the number is written."""
        return exact(self.kv_gib)


Memory = GpuMemory | KvMemory


def weights_on_each(weights_gib: float, tp: int, *, before: int = 1) -> float:
    """GiB of weights on each of ``tp`` GPUs that share them evenly, up to the hundredth.

    ``weights_gib`` are those on each of ``before`` GPUs; on one, they are all.

    >>> weights_on_each(24.21, 4), weights_on_each(6.06, 2, before=4)
    (6.06, 12.12)
    """
    return ceil(exact(weights_gib) * 100 * before / tp) / 100
