"""What a simulation is run with: the pool, the policy, and how long an iteration takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pagedkv.checks import is_whole_number
from pagedkv.workloads.makers import MODEL_MAX_LENGTH
from pagedkv.workloads.memory_policy import MemoryPolicy
from pagedkv.workloads.messages import any_of, cut
from pagedkv.workloads.paging import PagedMemory
from pagedkv.workloads.reserving import RESERVATIONS, ReservingMemory
from pagedkv.workloads.workload import Workload, WorkloadError

POLICIES = (*RESERVATIONS, "paged")

RANGES: Mapping[str, range] = MappingProxyType(
    {
        "requests": range(1, 1_000_001),
        "block_size": range(1, 4097),
        "slots": range(1, 100_000_001),
        "answers": range(1, 65),
        "seed": range(2**31),
        "max_length": range(2, 10_000_001),
    }
)
LEAST_RATE, HIGHEST_RATE = 0.001, 10_000.0  # requests a second
SHORTEST_ITERATION, LONGEST_ITERATION = 0.01, 100_000.0  # milliseconds


@dataclass(frozen=True, slots=True)
class Setup:
    """``slots`` of KV memory, given out by one of ``POLICIES``.

    The defaults are the paper's OPT-13B on one A100: 12 GiB at 819,200 bytes a token are 15,728
    slots, or 983 blocks of 16. ``iteration_ms`` says how far one iteration moves the clock by which
    requests arrive: 45 ms, since at 2 requests a second the paper saw 30.42 in a batch, so that
    each of 337.99 outputs took 30.42 / 2 / 337.99 s. Raises ``WorkloadError`` naming the first
    value that cannot be.
    """

    policy: str = "paged"
    slots: int = 15_728
    block_size: int = 16
    answers: int = 1
    max_length: int = MODEL_MAX_LENGTH
    iteration_ms: float = 45.0

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise WorkloadError(f"policy is {cut(self.policy)}; it must be {any_of(POLICIES)}")
        for name in ("slots", "block_size", "answers", "max_length"):
            require_number(name, getattr(self, name))
        require_measure("iteration_ms", self.iteration_ms, SHORTEST_ITERATION, LONGEST_ITERATION)
        if self.block_size > self.slots:
            raise WorkloadError(
                f"block_size is {self.block_size}; with {self.slots} slots it must be at most that"
            )

    def memory(self) -> MemoryPolicy:
        """An empty pool under this policy."""
        if self.policy == "paged":
            return PagedMemory(self.slots, self.block_size, self.answers)
        reserve = RESERVATIONS[self.policy]
        return ReservingMemory(reserve, self.slots, self.answers, self.max_length)


def require_number(name: str, value: object) -> None:
    """Raise ``WorkloadError`` unless ``RANGES`` has this whole number."""
    allowed = RANGES[name]
    if not is_whole_number(value) or value not in allowed:
        reach = f"from {allowed[0]:,} to {allowed[-1]:,}"
        raise WorkloadError(f"{name} is {cut(value)}; it must be a whole number {reach}")


def require_measure(name: str, value: object, least: float, most: float) -> None:
    """Raise ``WorkloadError`` unless ``value`` is a number from ``least`` to ``most``."""
    is_bool = isinstance(value, bool)  # which Python counts among the whole numbers
    if isinstance(value, int | float) and not is_bool and least <= value <= most:  # nan is not
        return
    raise WorkloadError(f"{name} is {cut(value)}; it must be a number from {least:,g} to {most:,g}")


def max_length_for(workload: Workload) -> int:
    """OPT's maximum length, or more where the workload has longer requests."""
    return max(MODEL_MAX_LENGTH, workload.longest)
