"""The block table: a request's order on one side, places in memory on the other."""

from collections.abc import Iterable

from pagedkv.evidence import look_up
from pagedkv.layout import blocks_needed
from pagedkv.lessons.base import EngineNote, Lesson, Words
from pagedkv.lessons.opening import B_WAITS, b_and_c_after_one_execution, explain_refusal_of_b
from pagedkv.lessons.remedies import what_would_do
from pagedkv.recorder import Recorder
from pagedkv.settings import Settings
from pagedkv.suppositions import neighbours, suppose
from pagedkv.trace.errors import agree
from pagedkv.trace.frame import LookupView

FRAMES = {
    "start": Words(
        "After one execution",
        "B has {state.requests[B].num_stored:position} stored and C "
        "{state.requests[C].num_stored}. Each request counts its own from zero on the left; on the "
        "right are the blocks they lie in. We chose which blocks are free first, as if earlier "
        "requests had used the pool. Must a request's blocks be neighbours?",
    ),
    "start_alone": Words(
        "After one execution",
        "B has {state.requests[B].num_stored:position} stored. It counts them from zero on the "
        "left; on the right are the blocks they lie in. We chose which blocks are free first, as "
        "if earlier requests had used the pool. Must they be neighbours?",
    ),
    "neighbours": Words(
        "What if a request's blocks had to be neighbours?",
        "Then B could not grow without moving: C would hold the next block. As it is, B lies in "
        "{state.requests[B].block_table:P}, and any free block will do: {state.totals.free_blocks} "
        "{state.totals.free_blocks:is|are} free.",
    ),
    "neighbours_full": Words(
        "What if a request's blocks had to be neighbours?",
        "Then B could not grow without moving: C would hold the next block. As it is, B lies in "
        "{state.requests[B].block_table:P}, and any block that comes free will do; "
        "{state.totals.free_blocks} are free now.",
    ),
    "if_neighbours": Words(
        "B's blocks had to be neighbours",
        "B's next block would have to lie right behind its "
        "{len(state.requests[B].block_table):block}, and there is C. B could not grow without "
        "moving, though {state.totals.free_blocks:block} {state.totals.free_blocks:is|are} free "
        "elsewhere.",
    ),
    "if_neighbours_full": Words(
        "B's blocks had to be neighbours",
        "B's next block would have to lie right behind its "
        "{len(state.requests[B].block_table):block}, and there is C. B could not grow without "
        "moving, and there is no free block to move to.",
    ),
    "tables": Words(
        "The table keeps order and place apart",
        "B's order is its own: its logical "
        "{len(state.requests[B].block_table):block lies|blocks lie} in "
        "{state.requests[B].block_table:P}, wherever there was room. C's "
        "{len(state.requests[C].block_table):lies|lie} in {state.requests[C].block_table:P}. Both "
        "indices, of blocks and of offsets, begin at zero.",
    ),
    "tables_alone": Words(
        "The table keeps order and place apart",
        "B's order is its own: its logical "
        "{len(state.requests[B].block_table):block lies|blocks lie} in "
        "{state.requests[B].block_table:P}, wherever there was room. Both indices, of blocks and "
        "of offsets, begin at zero.",
    ),
    "divide": Words(
        "Where is B's last position? First divide",
        "Position {lookup[B$].position} divided by the block size {config.block_size} gives "
        "{lookup[B$].logical_block}, remainder {lookup[B$].offset}: logical block "
        "L{lookup[B$].logical_block}, the {lookup[B$].offset:ordinal} slot in it.",
    ),
    "read_table": Words(
        "Then read one table entry",
        "B's table maps L{lookup[B$].logical_block} to P{lookup[B$].block_id}, so the KV is in "
        "P{lookup[B$].block_id} at offset {lookup[B$].offset}: slot {lookup[B$].flat_slot} of the "
        "pool. What is stored there equals the dense copy that was grown separately.",
    ),
    "read_table_off": Words(
        "Then read one table entry",
        "B's table maps L{lookup[B$].logical_block} to P{lookup[B$].block_id}, so the KV is to be "
        "in P{lookup[B$].block_id} at offset {lookup[B$].offset}: slot {lookup[B$].flat_slot} of "
        "the pool. In this run what is stored there is not what the dense copy has: the engine has "
        "a fault.",
    ),
    "any_position": Words(
        "Every position, one copy",
        "Choose any stored cell: all {len(lookup)} look-ups end at a slot with the right K and V. "
        "Left and right are two views of one copy. One table serves every layer and head, which "
        "the picture leaves out.",
    ),
    "any_position_off": Words(
        "Every position, one copy",
        "Choose any stored cell. In this run not all {len(lookup)} look-ups end at a slot with the "
        "right K and V: the engine has a fault. One table serves every layer and head, which the "
        "picture leaves out.",
    ),
    "b_waits": B_WAITS,
    "infeasible_b": Words(
        "Not at these settings",
        "The pool of {config.num_blocks:block} cannot hold B with its next input.",
    ),
    "infeasible_c": Words(
        "Not at these settings",
        "The pool of {config.num_blocks:block} cannot hold C beside B, so there is one table only.",
    ),
}


def can_show(settings: Settings) -> bool:
    """Whether B, with the input that it processes beside C, and C have room."""
    of_b = blocks_needed(settings.prompt_length + 1, settings.block_size)
    of_c = blocks_needed(settings.prompt_length, settings.block_size)
    return of_b + of_c <= settings.num_blocks


def script(stage: Recorder) -> None:
    """Two requests after one execution; then one look-up, step by step."""
    b_got_on = b_and_c_after_one_execution(stage)
    if "B" not in stage.engine.requests:
        explain_refusal_of_b(stage, "b_waits", "infeasible_b", can_show)
        return
    c_is_in = "C" in stage.engine.requests
    stage.show("start" if c_is_in else "start_alone")
    if c_is_in:
        block_size = stage.settings.block_size
        state = stage.state()
        cells = neighbours(state, "B", block_size)
        key, supposed = ("neighbours", "if_neighbours")
        if not state.free_blocks:
            key, supposed = ("neighbours_full", "if_neighbours_full")
        stage.show(key, what_if=suppose("neighbours", "B", FRAMES[supposed], cells))
    stage.show("tables" if c_is_in else "tables_alone", look_up_requests=True)
    stage.show("divide", look_up_requests=True)
    last = look_up(stage.engine, "B")[-1:]
    stage.show("read_table" if all_right(last) else "read_table_off", look_up_requests=True)
    all_of_them = [view for name in stage.engine.requests for view in look_up(stage.engine, name)]
    stage.show(
        "any_position" if all_right(all_of_them) else "any_position_off", look_up_requests=True
    )
    if not b_got_on:
        stage.cannot_show("infeasible_b", what_would_do(stage.settings, can_show))
    elif not c_is_in:
        stage.cannot_show("infeasible_c", what_would_do(stage.settings, can_show))


def all_right(views: Iterable[LookupView]) -> bool:
    """Whether K and V at every place looked up are the dense copy's."""
    return agree(error for view in views for error in (view.max_abs_error_k, view.max_abs_error_v))


LESSON = Lesson(
    slug="block-table",
    order=2,
    figure=2,
    title="The block table",
    question="B's blocks lie apart. How does the engine find position after position?",
    takeaway=(
        "Order lives in the block table, place in the pool. Divide the position by the block size, "
        "read one table entry, and you have the slot."
    ),
    minutes=7,
    in_engines_today=(
        EngineNote(
            "vLLM keeps one int32 row of block ids per request; layers of one kind share it, and a "
            "model that mixes kinds has a table for each. In every step it computes each new "
            "token's slot from it: the slot_mapping.",
            "vLLM 0.33.0, v1/worker/gpu/block_table.py, 2026-11",
        ),
        EngineNote(
            "SGLang keeps a slot number per token, in req_to_token, instead of block ids. Its "
            "pages hold one token by default; several attention backends and models ask for more, "
            "and slots are then given out in whole pages.",
            "SGLang 0.5.23, srt/mem_cache/memory_pool.py and arg_groups/overrides.py, 2026-10",
        ),
        EngineNote(
            "FlashInfer's paged_kv_t has no padded table: the page ids of all requests lie in one "
            "array, a second says where each request begins in it, and a third how full its last "
            "page is.",
            "FlashInfer 0.7.4, include/flashinfer/page.cuh, 2026-11",
        ),
    ),
    frames=FRAMES,
    script=script,
)
