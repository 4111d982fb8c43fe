"""Blocks that are counted are the blocks that ``BlockManager`` gives, iteration by iteration.

Beside the simulation runs a scheduler of the plainest kind: one ``BlockManager``, every sequence
appended to for every token, refusals caught as they come. Nothing of the simulation is used in it.
"""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st
from workload_samples import workloads

from pagedkv import BlockManager, OutOfBlocks
from pagedkv.workloads import Request, Setup, Simulation, Workload
from pagedkv.workloads.paging import PagedMemory


@dataclass(eq=False)
class Sequence:
    """A request of the plain scheduler, with the tokens that it holds and has yet to select."""

    request: Request
    num_tokens: int
    to_select: int


@dataclass
class PlainScheduler:
    """First come, first served on a real ``BlockManager``."""

    workload: Workload
    setup: Setup
    now: int = 0
    finished: int = 0
    preemptions: int = 0
    running: list[Sequence] = field(default_factory=list)
    waiting: list[Sequence] = field(default_factory=list)

    def __post_init__(self) -> None:
        num_blocks = self.setup.slots // self.setup.block_size
        self.manager = BlockManager(num_blocks, self.setup.block_size)
        self.coming = [r for r in self.workload if self.fits_alone(r)]

    def fits_alone(self, request: Request) -> bool:
        """Try it, on an empty pool."""
        if request.num_inputs + request.num_outputs > self.setup.max_length:
            return False
        alone = BlockManager(self.manager.num_blocks, self.setup.block_size)
        last = request.num_inputs + request.num_outputs - 1
        return self.give(alone, request, last)

    def give(self, manager: BlockManager, request: Request, num_tokens: int) -> bool:
        """Admit all answers with so many tokens each, the prompt's full blocks shared; or none."""
        names, given = self.names(request), []
        size = self.setup.block_size
        shared = request.num_inputs // size * size
        try:
            for name in names:
                if shared and given:
                    manager.fork(given[0], name)
                else:
                    manager.admit(name, shared or num_tokens)
                given.append(name)
            if shared and num_tokens > shared:
                for name in names:
                    manager.append(name, num_tokens - shared)
        except OutOfBlocks:
            for name in given:
                manager.free(name)
            return False
        return True

    def names(self, request: Request) -> list[str]:
        return [f"{request.number}.{answer}" for answer in range(self.setup.answers)]

    def free(self, sequence: Sequence) -> None:
        for name in self.names(sequence.request):
            self.manager.free(name)

    def iterate(self) -> None:
        """One iteration: arrivals, growth, preemption, admission, and one token selected by all."""
        microseconds = self.now * round(self.setup.iteration_ms * 1000)
        while self.coming and round(self.coming[0].arrival * 10**6) <= microseconds:
            request = self.coming.pop(0)
            self.waiting.append(Sequence(request, request.num_inputs, request.num_outputs))
        if self.grow():
            while self.waiting and self.give(
                self.manager, self.waiting[0].request, self.waiting[0].num_tokens
            ):
                self.running.append(self.waiting.pop(0))
        for sequence in self.running:
            sequence.to_select -= 1
        assert self.manager.check() == []
        self.now += 1

    def end(self) -> None:
        """Free whoever has selected everything."""
        for sequence in [s for s in self.running if s.to_select == 0]:
            self.running.remove(sequence)
            self.free(sequence)
            self.finished += 1

    def grow(self) -> bool:
        """A token more for everybody, the earliest first; whoever must gives up from the end."""
        all_grew, grown = True, 0
        while grown < len(self.running):
            sequence = self.running[grown]
            names = self.names(sequence.request)
            needed = sum(self.manager.blocks_needed_to_append(name) for name in names)
            if needed <= self.manager.num_free_blocks:
                for name in names:
                    self.manager.append(name)
                sequence.num_tokens += 1
                grown += 1
                continue
            latest = self.running.pop()
            self.free(latest)
            latest.num_tokens += 1  # what it has selected is computed again with the rest
            self.waiting.insert(0, latest)
            self.preemptions += 1
            all_grew = False
        return all_grew


SETUPS = st.builds(
    Setup,
    slots=st.integers(16, 120),
    block_size=st.integers(1, 9),
    answers=st.integers(1, 4),
    max_length=st.sampled_from([40, 2048]),
)


@given(workloads(), SETUPS)
def test_after_every_iteration_the_manager_has_the_same_blocks_free(
    workload: Workload, setup: Setup
) -> None:
    plain, simulation = PlainScheduler(workload, setup), Simulation(workload, setup)
    memory = simulation.memory
    assert isinstance(memory, PagedMemory)
    while not simulation.is_done:
        begun = simulation.now
        usage = simulation.advance()
        while plain.now < begun:  # idle until then, or nothing new
            plain.end()
            plain.iterate()
        plain.end()
        assert plain.now == begun
        if usage is None:
            assert not plain.running
            continue
        plain.iterate()
        running = [sequence.request.number for sequence in plain.running]
        assert [held.request.number for held in simulation.running] == running
        assert [held.stored(begun) for held in simulation.running] == [
            sequence.num_tokens for sequence in plain.running
        ]
        assert memory.num_free_blocks == plain.manager.num_free_blocks
        assert simulation.has_waiting == bool(plain.waiting)
        assert simulation.preemptions == plain.preemptions
        assert simulation.finished == plain.finished
        tables = [
            plain.manager.block_table(name)
            for sequence in plain.running
            for name in plain.names(sequence.request)
        ]
        assert usage.unshared == sum(map(len, tables)) * setup.block_size
        assert usage.stored == distinct_slots(plain)
        assert usage.internal == never_filled(plain)
    plain.end()
    assert plain.finished == simulation.finished
    assert memory.num_free_blocks == plain.manager.num_free_blocks == memory.num_blocks


def distinct_slots(plain: PlainScheduler) -> int:
    """Slots that hold a position, those of shared blocks once."""
    return len(
        {
            plain.manager.locate(name, position).flat_slot
            for sequence in plain.running
            for name in plain.names(sequence.request)
            for position in range(sequence.num_tokens)
        }
    )


def never_filled(plain: PlainScheduler) -> int:
    """Slots behind the last position that each answer will have, in the blocks that it holds."""
    size, slots = plain.setup.block_size, 0
    for sequence in plain.running:
        positions = sequence.request.num_inputs + sequence.request.num_outputs - 1
        for name in plain.names(sequence.request):
            slots += max(0, len(plain.manager.block_table(name)) * size - positions)
    return slots
