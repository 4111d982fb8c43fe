"""The board at one moment: which of the four states a slot is in, and the sums."""

import pytest

import kernels
from pagedkv.engine import Engine
from pagedkv.model import CharGPT, load_model
from pagedkv.slot_history import SlotHistory
from pagedkv.snapshot import take_snapshot
from pagedkv.trace.state import SlotView, State


@pytest.fixture(scope="module")
def model() -> CharGPT:
    return load_model(kernels.runtime()["device"])


class Stage:
    """An engine of 4 blocks of 4, and the history of its slots."""

    def __init__(self, model: CharGPT) -> None:
        self.history = SlotHistory(4)
        self.engine = Engine(model, block_size=4, num_blocks=4, on_event=self.note)

    def note(self, event) -> None:
        self.history.note(event, self.engine.text)

    def state(self, **options) -> State:
        return take_snapshot(self.engine, self.history, **options)

    def slots(self, block_id: int) -> tuple[SlotView, ...]:
        return self.state().blocks[block_id].slots


@pytest.fixture
def stage(model) -> Stage:
    return Stage(model)


def test_a_slot_of_a_new_pool_is_free(stage):
    assert set(stage.slots(3)) == {SlotView("free", (), None, None, False)}


def test_an_admitted_requests_slots_are_empty_and_say_which_position_they_will_hold(stage):
    stage.engine.admit("B", "ROMEO")
    assert stage.slots(0)[0] == SlotView("empty", ("B",), 0, "R", False)
    assert stage.slots(1)[0] == SlotView("empty", ("B",), 4, "O", False)
    assert stage.slots(1)[1] == SlotView("empty", ("B",), 5, None, False)


def test_an_executed_requests_slots_are_stored_and_the_rest_of_its_block_stays_empty(stage):
    stage.engine.admit("B", "ROMEO")
    stage.engine.execute("B")
    assert stage.slots(1)[0] == SlotView("stored", ("B",), 4, "O", False)
    assert [slot.state for slot in stage.slots(1)] == ["stored", "empty", "empty", "empty"]


def test_a_finished_requests_slots_are_stale_where_written_and_free_elsewhere(stage):
    stage.engine.admit("B", "ROMEO")
    stage.engine.execute("B")
    stage.engine.finish("B")
    assert stage.slots(0)[0] == SlotView("stale", (), 0, "R", False)
    assert [slot.state for slot in stage.slots(1)] == ["stale", "free", "free", "free"]


def test_a_reused_blocks_old_bytes_are_not_its_new_owners(stage):
    """nano-vllm 163: a reused block was taken for its old content."""
    stage.engine.admit("B", "ROMEO")
    stage.engine.execute("B")
    stage.engine.finish("B")
    stage.engine.admit("D", "No")
    assert stage.slots(0)[0] == SlotView("empty", ("D",), 0, "N", False)
    assert stage.slots(0)[3] == SlotView("empty", ("D",), 3, None, False)
    stage.engine.execute("D")
    assert [slot.state for slot in stage.slots(0)] == ["stored", "stored", "empty", "empty"]
    assert [slot.token for slot in stage.slots(0)] == ["N", "o", None, None]


def test_a_shared_slot_names_all_its_owners_and_counts_once(stage):
    stage.engine.admit("R1", "To be")
    stage.engine.execute("R1")
    stage.engine.fork("R1", "R2")
    state = stage.state()
    assert state.blocks[0].slots[0].owners == ("R1", "R2")
    assert [block.ref_count for block in state.blocks] == [2, 2, 0, 0]
    totals = state.totals
    assert (totals.stored_slots, totals.allocated_slots, totals.table_entries) == (5, 8, 4)
    assert (totals.blocks_in_use, totals.free_blocks, totals.free_slots) == (2, 2, 8)


def test_a_pending_token_has_no_slot(stage):
    stage.engine.admit("B", "ROME")
    stage.engine.execute("B")
    token = stage.engine.select("B")
    (request,) = stage.state().requests
    assert (request.pending_token, request.num_tokens, len(request.tokens)) == (token, 4, 4)
    assert stage.state().totals.blocks_in_use == 1


def test_written_now_and_waiting_are_what_the_caller_says(stage):
    stage.engine.admit("B", "ROMEO")
    state = stage.state(waiting=["C"], written_now={1})
    assert [slot.written_now for slot in state.blocks[0].slots] == [False, True, False, False]
    assert state.waiting == ("C",)


def test_a_snapshot_does_not_change_with_the_engine(stage):
    stage.engine.admit("B", "ROMEO")
    before = stage.state()
    frozen = stage.state()
    stage.engine.execute("B")
    stage.engine.finish("B")
    assert before == frozen != stage.state()


def test_a_lost_block_is_not_taken_for_a_free_one(stage):
    """Each count comes from where it is kept, so that the ledger's sums can fail."""
    stage.engine.admit("B", "ROMEO")
    stage.engine.execute("B")
    stage.engine.cache._manager._pool._free.pop()
    totals = stage.state().totals
    assert (totals.free_blocks, totals.blocks_in_use) == (1, 2)
    assert (totals.capacity_slots, totals.allocated_slots, totals.free_slots) == (16, 8, 8)


def test_a_block_that_nobody_has_and_that_counts_as_used_breaks_the_sum_of_slots(stage):
    stage.engine.admit("B", "ROMEO")
    stage.engine.execute("B")
    stage.engine.cache._manager._pool.take()
    totals = stage.state().totals
    assert totals.stored_slots + totals.empty_slots == 8
    assert (totals.allocated_slots, totals.free_slots) == (12, 8)
