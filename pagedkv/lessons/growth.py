"""Growth: a request takes one more block when its next position has no slot, and not before."""

from pagedkv.lessons.base import EngineNote, Lesson, Words
from pagedkv.lessons.opening import (
    B_WAITS,
    b_and_c_after_one_execution,
    b_can_take_one_more_block,
    explain_refusal_of_b,
)
from pagedkv.lessons.remedies import what_would_do
from pagedkv.recorder import Recorder

FRAMES = {
    "start": Words(
        "B goes on, C stands still",
        "B has {state.requests[B].num_stored:position} stored in "
        "{state.requests[B].block_table:P}. We chose which blocks are free first, as if earlier "
        "requests had used the pool. B's next input {state.requests[B].pending_token:char} has no "
        "slot and no KV yet. C is held at {state.requests[C].num_stored:position} to look at B "
        "alone; a real engine would decode it too.",
    ),
    "start_alone": Words(
        "B goes on alone",
        "B has {state.requests[B].num_stored:position} stored in "
        "{state.requests[B].block_table:P}. We chose which blocks are free first, as if earlier "
        "requests had used the pool. B's next input {state.requests[B].pending_token:char} has no "
        "slot and no KV yet.",
    ),
    "check_in_place": Words(
        "Check: is there a slot?",
        "Before B's position {check.position} is written, the engine asks one thing: has B's last "
        "block, P{state.requests[B].block_table[-1]}, an empty slot? It has "
        "{check.empty_in_last_block}. So B needs no further block, and the free list is left "
        "alone.",
    ),
    "in_place": Words(
        "Written in place, the table as before",
        "In each layer K and V of {state.requests[B].tokens[-1]:char} were written first, into the "
        "{execution.inputs[B].first_offset:ordinal} slot of "
        "P{state.requests[B].block_table[-1]}; then its query attended. B's table still reads "
        "{state.requests[B].block_table:P}; "
        "{state.requests[B].num_stored:position} are stored now.",
    ),
    "selected": Words(
        "The output waits to become an input",
        "The execution ended with the next output, "
        "{state.requests[B].pending_token:char}. It is pending: no slot, no KV, and not among the "
        "{state.requests[B].num_stored:position} stored. Its KV comes into being when it is "
        "processed as the next input.",
    ),
    "one_more": Words(
        "One more in place",
        "Again the last block had room: position {execution.inputs[B].first_position} went into "
        "the {execution.inputs[B].first_offset:ordinal} slot of "
        "P{state.requests[B].block_table[-1]}. "
        "{state.requests[B].num_stored:position} are stored, and the next output, "
        "{state.requests[B].pending_token:char}, is pending.",
    ),
    "check_new_block": Words(
        "Check: every slot is taken",
        "Position {check.position} finds {check.empty_in_last_block:empty slot} in B's last block, "
        "so B needs {check.needed:block}. {check.free} {check.free:is|are} free, and "
        "P{state.free_blocks[0]} is the next to be given.",
    ),
    "new_block": Words(
        "A block is given, the table grows",
        "P{events[BlockAllocated].block_id} was taken from the free list and the table got one "
        "entry: L{events[TableChanged].logical_block} → P{events[TableChanged].block_id}. The slot "
        "for {state.requests[B].tokens[-1]:char} is allocated; its K and V are not computed yet.",
    ),
    "stored_new": Words(
        "The first slot of the new block",
        "Position {attention[B].query_position} is in P{state.requests[B].block_table[-1]}'s first "
        "slot: {state.requests[B].num_stored:position} stored. Nothing was moved: B's earlier KV "
        "lies where it lay, and C keeps {state.requests[C].block_table:P}.",
    ),
    "stored_new_alone": Words(
        "The first slot of the new block",
        "Position {attention[B].query_position} is in P{state.requests[B].block_table[-1]}'s first "
        "slot: {state.requests[B].num_stored:position} stored. Nothing was moved: B's earlier KV "
        "lies where it lay.",
    ),
    "end": Words(
        "Block by block",
        "B now holds {state.requests[B].block_table:P}, and "
        "{state.totals.free_blocks:block} {state.totals.free_blocks:is|are} free. "
        "{state.requests[B].pending_token:char} has been chosen but not processed, so B still "
        "counts {state.requests[B].num_stored:position}.",
    ),
    "b_waits": B_WAITS,
    "stuck": Words(
        "No block is free",
        "Position {check.position} finds no empty slot in B's blocks and needs "
        "{check.needed:block}; {check.free} {check.free:is|are} free. B keeps its "
        "{state.requests[B].num_stored:position} and has to wait.",
    ),
    "infeasible_prompt": Words(
        "Not at these settings",
        "B's prompt of {config.prompt_length:position} does not fit into the pool of "
        "{config.num_blocks:block}.",
    ),
    "infeasible_growth": Words(
        "Not at these settings",
        "B cannot take its next block: the pool has {config.num_blocks:block}, and "
        "{state.totals.free_blocks} {state.totals.free_blocks:is|are} free.",
    ),
}


def script(stage: Recorder) -> None:
    """Decode B until it has taken one more block and stored in it, or is refused."""
    b_got_on = b_and_c_after_one_execution(stage)
    if "B" not in stage.engine.requests:
        explain_refusal_of_b(stage, "b_waits", "infeasible_prompt", b_can_take_one_more_block)
        return
    if not b_got_on:
        stop_growing(stage)
        return
    c_is_in = "C" in stage.engine.requests
    stage.show("start" if c_is_in else "start_alone")
    steps_in_place = 0
    while not stage.needs_block("B"):
        grow_in_place(stage, in_detail=steps_in_place == 0)
        steps_in_place += 1
    if not stage.check_append("B"):
        stage.append("B")
        stop_growing(stage)
        return
    stage.show("check_new_block")
    stage.append("B")
    stage.show("new_block")
    stage.execute("B")
    stage.show("stored_new" if c_is_in else "stored_new_alone")
    stage.engine.select("B")
    stage.show("end")


def stop_growing(stage: Recorder) -> None:
    """B was refused a block: show the check that it failed, and say what would help."""
    stage.check_append("B")
    stage.show("stuck")
    stage.cannot_show("infeasible_growth", what_would_do(stage.settings, b_can_take_one_more_block))


def grow_in_place(stage: Recorder, in_detail: bool) -> None:
    """Process one input that fits into B's last block."""
    if in_detail:
        stage.check_append("B")
        stage.show("check_in_place")
    stage.append("B")
    stage.execute("B")
    if in_detail:
        stage.show("in_place")
    stage.engine.select("B")
    stage.show("selected" if in_detail else "one_more")


LESSON = Lesson(
    slug="growth",
    order=3,
    figure=3,
    title="Growth",
    question="B keeps generating. When does it need another block, and does anything have to move?",
    takeaway=(
        "A block is taken when the next position has no slot, and never earlier. "
        "Storage grows by blocks; nothing that is stored moves."
    ),
    minutes=7,
    in_engines_today=(
        EngineNote(
            "vLLM's allocate_slots does this check for all of a request's tokens in a step: the "
            "blocks they need in all, rounded up, less those it has. With speculative decoding it "
            "also asks for slots for drafts that may be rejected.",
            "vLLM 0.33.0, v1/core/kv_cache_manager.py, 2026-11",
        ),
        EngineNote(
            "When a running request finds no free block, vLLM preempts the last of the running "
            "ones, or under its priority policy the least important, takes its blocks back and "
            "tries again.",
            "vLLM 0.33.0, v1/core/sched/scheduler.py, 2026-11",
        ),
    ),
    frames=FRAMES,
    script=script,
)
