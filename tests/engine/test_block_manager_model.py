"""Random commands against a plain model: lists of tokens, and a memory for the plans.

In the model a request is a list of tokens, and a fork copies the list. The manager's plans are
carried out on a dict from flat slot to token; then every request, read back position by position,
must be its list. A wrong slot, a missed copy or a block given twice shows as a wrong token. Blocks
to take are counted a token at a time, with no formula of the manager's.
"""

from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from pagedkv.block_manager import BlockManager, OutOfBlocks
from pagedkv.events import Event, RequestRefused

NAMES = st.sampled_from(["A", "B", "C", "D", "E"])
COUNTS = st.integers(1, 14)


class Requests(RuleBasedStateMachine):
    """The manager, the model, and the memory between them."""

    @initialize(data=st.data(), num_blocks=st.integers(0, 9), block_size=st.integers(1, 5))
    def start(self, data: st.DataObject, num_blocks: int, block_size: int) -> None:
        self.events: list[Event] = []
        order = data.draw(st.permutations(range(num_blocks)))
        self.manager = BlockManager(num_blocks, block_size, order, on_event=self.events.append)
        self.tokens: dict[str, list[int]] = {}  # the model
        self.memory: dict[int, int] = {}  # flat slot -> token
        self.next_token = 0

    # Commands

    @rule(name=NAMES, count=COUNTS)
    def admit(self, name: str, count: int) -> None:
        needed = len(range(0, count, self.manager.block_size))
        fits = needed <= self.manager.num_free_blocks
        assert self.manager.can_admit(count) == fits
        if name in self.tokens:
            self.expect(ValueError, lambda: self.manager.admit(name, count))
        elif not fits:
            self.expect_refusal(name, needed, needed, lambda: self.manager.admit(name, count))
        else:
            self.manager.admit(name, count)
            self.tokens[name] = []
            self.store(name, [self.manager.locate(name, p).flat_slot for p in range(count)])

    @rule(name=NAMES, count=COUNTS)
    def append(self, name: str, count: int) -> None:
        if name not in self.tokens:
            self.expect(ValueError, lambda: self.manager.append(name, count))
            return
        needed, blocks_after = self.count_blocks_to_append(name, count)
        fits = needed <= self.manager.num_free_blocks
        assert self.manager.blocks_needed_to_append(name, count) == needed
        assert self.manager.can_append(name, count) == fits
        if not fits:
            command = lambda: self.manager.append(name, count)  # noqa: E731
            self.expect_refusal(name, needed, blocks_after, command)
            return
        expected = self.manager.free_blocks[:needed]
        plan = self.manager.append(name, count)
        assert (*(destination for _, destination in plan.copies), *plan.new_blocks) == expected
        assert plan.positions == tuple(range(len(self.tokens[name]), self.manager.num_tokens(name)))
        for source, destination in plan.copies:
            self.copy_block(source, destination)
        self.store(name, plan.slots)

    @rule(parent=NAMES, child=NAMES)
    def fork(self, parent: str, child: str) -> None:
        if parent not in self.tokens or child in self.tokens:
            self.expect(ValueError, lambda: self.manager.fork(parent, child))
            return
        self.manager.fork(parent, child)
        self.tokens[child] = list(self.tokens[parent])

    @rule(name=NAMES)
    def free(self, name: str) -> None:
        if name not in self.tokens:
            self.expect(ValueError, lambda: self.manager.free(name))
            return
        free_before = self.manager.free_blocks
        private = [b for b in self.manager.block_table(name) if self.manager.ref_count(b) == 1]
        self.manager.free(name)
        del self.tokens[name]
        assert self.manager.free_blocks == (*private, *free_before)

    @precondition(lambda self: self.tokens)
    @rule(number=st.sampled_from([0, -1, True, 2.0, "2", None]))
    def ask_for_nonsense(self, number: int) -> None:
        name = next(iter(self.tokens))
        self.expect(ValueError, lambda: self.manager.append(name, number))
        self.expect(ValueError, lambda: self.manager.admit("new", number))

    # Always true

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert self.manager.check() == []

    @invariant()
    def every_request_reads_its_own_tokens(self) -> None:
        assert self.manager.requests == tuple(self.tokens)
        for name, tokens in self.tokens.items():
            slots = [self.manager.locate(name, p).flat_slot for p in range(len(tokens))]
            assert [self.memory[slot] for slot in slots] == tokens
            assert self.manager.num_tokens(name) == len(tokens)

    @invariant()
    def free_and_used_blocks_are_the_pool(self) -> None:
        used = {b for name in self.tokens for b in self.manager.block_table(name)}
        assert sorted([*self.manager.free_blocks, *used]) == list(range(self.manager.num_blocks))
        assert self.manager.num_free_blocks == self.manager.num_blocks - len(used)

    @invariant()
    def ref_counts_are_table_entries(self) -> None:
        entries = [b for name in self.tokens for b in self.manager.block_table(name)]
        for block_id in range(self.manager.num_blocks):
            assert self.manager.ref_count(block_id) == entries.count(block_id)

    # The model's own arithmetic, a token at a time

    def count_blocks_to_append(self, name: str, count: int) -> tuple[int, int]:
        """Blocks to take, and the length of the table afterwards."""
        length, table = len(self.tokens[name]), list(self.manager.block_table(name))
        entries = [b for other in self.tokens for b in self.manager.block_table(other)]
        taken = 0
        for position in range(length, length + count):
            if position % self.manager.block_size == 0:
                table.append(-1)
                taken += 1
            elif table[-1] != -1 and entries.count(table[-1]) > 1:
                table[-1] = -1
                taken += 1
        return taken, len(table)

    def store(self, name: str, slots: list[int] | tuple[int, ...]) -> None:
        for slot in slots:
            self.memory[slot] = self.next_token
            self.tokens[name].append(self.next_token)
            self.next_token += 1

    def copy_block(self, source: int, destination: int) -> None:
        size = self.manager.block_size
        for offset in range(size):
            if source * size + offset in self.memory:
                self.memory[destination * size + offset] = self.memory[source * size + offset]

    # Refusals change nothing

    def expect(
        self, error: type[Exception], command: Callable[[], object]
    ) -> pytest.ExceptionInfo[Exception]:
        before, heard = self.visible_state(), len(self.events)
        with pytest.raises(error) as caught:
            command()
        assert self.visible_state() == before
        refusals = [event for event in self.events[heard:] if isinstance(event, RequestRefused)]
        assert len(self.events) - heard == len(refusals) == (error is OutOfBlocks)
        return caught

    def expect_refusal(
        self, name: str, needed: int, blocks_after: int, command: Callable[[], object]
    ) -> None:
        total, free = self.manager.num_blocks, self.manager.num_free_blocks
        error = self.expect(OutOfBlocks, command).value
        reason = "never fits" if blocks_after > total else "wait"
        expected = (name, needed, free, total, reason)
        assert (error.request, error.needed, error.free, error.total, error.reason) == expected
        assert self.events[-1] == RequestRefused(name, needed, free, total, reason)

    def visible_state(self) -> object:
        manager = self.manager
        requests = [(n, manager.num_tokens(n), manager.block_table(n)) for n in manager.requests]
        counts = [manager.ref_count(block_id) for block_id in range(manager.num_blocks)]
        return requests, counts, manager.free_blocks


Requests.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestRequests = Requests.TestCase
