"""What a simulation is run with: the pool, the policy, and how long an iteration takes."""

from dataclasses import dataclass

from pagedkv.workloads.makers import MODEL_MAX_LENGTH, RECIPES
from pagedkv.workloads.memory_policy import MemoryPolicy
from pagedkv.workloads.messages import any_of, counted, cut
from pagedkv.workloads.paging import PagedMemory
from pagedkv.workloads.paper import BATCHES, BLOCK_SIZE, RATES, SLOTS
from pagedkv.workloads.ranges import (
    LONGEST_ITERATION,
    SHORTEST_ITERATION,
    require_measure,
    require_number,
)
from pagedkv.workloads.reserving import RESERVATIONS, ReservingMemory
from pagedkv.workloads.workload import Workload, WorkloadError

POLICIES = (*RESERVATIONS, "paged")

# The paper prints no length of an iteration; its numbers for ShareGPT make one. With so many
# requests in a batch at that rate, each runs batch / rate seconds (Little's law), and an iteration
# for each of its outputs.
SECONDS_OF_A_REQUEST = BATCHES["sharegpt"]["paged"].value / RATES["sharegpt"]
ITERATION_MS = float(round(1000 * SECONDS_OF_A_REQUEST / RECIPES["sharegpt"].mean_output))


@dataclass(frozen=True, slots=True)
class Setup:
    """``slots`` of KV memory, given out by one of ``POLICIES``.

    The defaults are the paper's OPT-13B on one A100. ``iteration_ms`` says how far one iteration
    moves the clock by which requests arrive. Raises ``WorkloadError`` naming the first value that
    cannot be.
    """

    policy: str = "paged"
    slots: int = SLOTS
    block_size: int = BLOCK_SIZE
    answers: int = 1
    max_length: int = MODEL_MAX_LENGTH
    iteration_ms: float = ITERATION_MS

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise WorkloadError(f"policy is {cut(self.policy)}; it must be {any_of(POLICIES)}")
        for name in ("slots", "block_size", "answers", "max_length"):
            require_number(name, getattr(self, name))
        require_measure("iteration_ms", self.iteration_ms, SHORTEST_ITERATION, LONGEST_ITERATION)
        if self.block_size > self.slots:
            slots = counted(self.slots, "slot")
            raise WorkloadError(
                f"block_size is {self.block_size}; with {slots} it must be at most that"
            )

    def memory(self) -> MemoryPolicy:
        """An empty pool under this policy."""
        if self.policy == "paged":
            return PagedMemory(self.slots, self.block_size, self.answers)
        reserve = RESERVATIONS[self.policy]
        return ReservingMemory(reserve, self.slots, self.answers, self.max_length)


def max_length_for(workload: Workload) -> int:
    """OPT's maximum length, or more where the workload has longer requests."""
    return max(MODEL_MAX_LENGTH, workload.longest)
