"""Freeing: references are released, and a block returns when the last one is gone."""

from pagedkv.layout import blocks_needed, empty_slots
from pagedkv.lessons.base import EngineNote, Lesson, Words
from pagedkv.lessons.opening import PROMPT_WAITS, store
from pagedkv.lessons.remedies import what_would_do
from pagedkv.model.prompts import PASSAGE_D, PASSAGE_SHARED, prompt
from pagedkv.recorder import Recorder
from pagedkv.settings import Settings

# Which frame shows D's KV, by where old bytes remain: outside D's table? past its context length?
# They are never past its context length alone: if R2 could go on, so could R1, and D lacks a block
# of R1's.
OLD_BYTES = {
    (True, True): "overwritten",
    (True, False): "overwritten_outside",
    (False, False): "overwritten_all",
}

FRAMES = {
    "start": Words(
        "Two answers, partly shared",
        "R1 holds {state.requests[R1].block_table:P}, its fork R2 "
        "{state.requests[R2].block_table:P}: "
        "{state.totals.table_entries} table entries to {state.totals.blocks_in_use:block}. R1's "
        "response is complete. Which blocks come free?",
    ),
    "first_ended": Words(
        "R1 ends, and what R2 uses stays",
        "R1's own block went back to the free list. "
        "P{events[RefCountChanged$].block_id}'s ref count went from "
        "{events[RefCountChanged$].before} to {events[RefCountChanged$].after}: R2 still reads "
        "{state.requests[R2].block_table:P}, so those stay.",
    ),
    "first_ended_no_own": Words(
        "R1 ends, and everything stays",
        "R1 had no block of its own. P{events[RefCountChanged$].block_id}'s ref count went from "
        "{events[RefCountChanged$].before} to {events[RefCountChanged$].after}: R2 still reads "
        "{state.requests[R2].block_table:P}.",
    ),
    "first_ended_nothing_shared": Words(
        "R1 ends, and R2 is untouched",
        "By now R1 and R2 shared nothing: P{events[BlockFreed].block_id} went back to the free "
        "list, and R2 keeps {state.requests[R2].block_table:P}.",
    ),
    "second_ended": Words(
        "R2 ends: all free, nothing erased",
        "No table points to any block, so {state.totals.free_blocks:block} "
        "{state.totals.free_blocks:is|are} free. Nothing is kept for later requests here, and "
        "nothing is erased either: the old bytes lie there until someone overwrites them. "
        "P{state.free_blocks[0]} is the next to be given.",
    ),
    "given_again": Words(
        "D gets what came back",
        "D needs {check.needed:block} for its {check.num_inputs:input} and got "
        "{state.requests[D].block_table:P}, the most recently freed blocks "
        "first. What they still contain is not D's: its slots are allocated and empty.",
    ),
    "overwritten": Words(
        "Old KV is overwritten",
        "D's {state.requests[D].num_stored:position} {state.requests[D].num_stored:was|were} "
        "written over what lay there. Outside D's table old bytes remain and, past its context "
        "length, in its last block: nothing reads them.",
    ),
    "overwritten_outside": Words(
        "Old KV is overwritten",
        "D's {state.requests[D].num_stored:position} {state.requests[D].num_stored:was|were} "
        "written over what lay there. Elsewhere old bytes remain, and no query ever reads them: no "
        "table leads there.",
    ),
    "overwritten_all": Words(
        "Old KV is overwritten",
        "D's {state.requests[D].num_stored:position} {state.requests[D].num_stored:was|were} "
        "written over what lay there, and nothing of it is left.",
    ),
    "two_savings": Words(
        "Two savings, and a limit",
        "Blocks save what a reservation would hold empty; sharing saves second copies. With "
        "{state.totals.free_blocks:block} free, the scheduler can consider more requests. If all "
        "of them keep growing, blocks run out all the same.",
    ),
    "two_savings_none_free": Words(
        "Two savings, and a limit",
        "Blocks save what a reservation would hold empty; sharing saves second copies. Both let "
        "more requests be considered, up to a point: {state.totals.free_blocks:block} "
        "{state.totals.free_blocks:is|are} free now, and whoever grows next has to wait.",
    ),
    "prompt_waits": PROMPT_WAITS,
    "start_refused": Words(
        "Two answers, and no block to go on with",
        "R1 holds {state.requests[R1].block_table:P}, its fork R2 "
        "{state.requests[R2].block_table:P}. "
        "An input was refused for want of {events[RequestRefused].needed:block}. R1's response "
        "ends here. Which blocks come free?",
    ),
    "infeasible": Words(
        "Not at these settings",
        "With {config.num_blocks:block} something was refused on the way, before both "
        "answers could end.",
    ),
}


def can_show(settings: Settings) -> bool:
    """Whether both answers can go on: one copy, or a new block each after a full one."""
    length, block_size = settings.prompt_length, settings.block_size
    own_blocks = 1 if empty_slots(length, block_size) else 2
    return blocks_needed(length, block_size) + own_blocks <= settings.num_blocks


def script(stage: Recorder) -> None:
    """Two answers end one after the other, and a new request moves in."""
    length = stage.settings.prompt_length
    if not store(stage, "R1", prompt(PASSAGE_SHARED, length)):
        stage.show("prompt_waits")
        stage.cannot_show("infeasible", what_would_do(stage.settings, can_show))
        return
    both_went_on = go_on_separately(stage)
    stage.show("start" if both_went_on else "start_refused")
    end_both(stage)
    written = old_slots(stage)
    stage.check_admission("D", length)
    stage.admit("D", prompt(PASSAGE_D, length))
    stage.show("given_again")
    stage.execute("D")
    state = stage.state()
    empty = {
        (block.block_id, offset)
        for block in state.blocks
        for offset, slot in enumerate(block.slots)
        if slot.state == "empty"
    }
    stage.show(OLD_BYTES[bool(old_slots(stage)), bool(written & empty)])
    stage.show("two_savings" if state.free_blocks else "two_savings_none_free")
    if not both_went_on:
        stage.cannot_show("infeasible", what_would_do(stage.settings, can_show))


def go_on_separately(stage: Recorder) -> bool:
    """Fork, and process one own input each; say whether both could."""
    stage.engine.fork("R1", "R2")
    stage.engine.select("R2", rank=1)
    went_on = [name for name in ("R1", "R2") if stage.append(name)]
    if went_on:
        stage.execute(*went_on)
    return len(went_on) == 2


def end_both(stage: Recorder) -> None:
    """R1 first: its own block returns, shared ones stay; then R2."""
    own, shared = own_and_shared(stage)
    stage.engine.finish("R1")
    if not shared:
        stage.show("first_ended_nothing_shared")
    else:
        stage.show("first_ended" if own else "first_ended_no_own")
    stage.engine.finish("R2")
    stage.show("second_ended")


def old_slots(stage: Recorder) -> set[tuple[int, int]]:
    """Block and offset of every slot that is free and was written before."""
    return {
        (block.block_id, offset)
        for block in stage.state().blocks
        for offset, slot in enumerate(block.slots)
        if slot.state == "stale"
    }


def own_and_shared(stage: Recorder) -> tuple[bool, bool]:
    """Whether R1 has blocks of its own, and whether it shares any."""
    blocks = stage.state().blocks
    counts = [block.ref_count for block in blocks if "R1" in block.slots[0].owners]
    return 1 in counts, any(count > 1 for count in counts)


LESSON = Lesson(
    slug="freeing",
    order=7,
    figure=None,
    title="Freeing",
    question="One answer ends, the other goes on. Which blocks may be given to somebody else?",
    takeaway=(
        "A block is free when its last reference is gone, not before. Freeing erases nothing; "
        "tables and context lengths are what keep old bytes out of every answer."
    ),
    minutes=5,
    in_engines_today=(
        EngineNote(
            "vLLM's free list is a queue: full blocks go to the back, a request's last ones first, "
            "and can be found by their hash until given away; blocks without a hash go to the "
            "front. Ours is a stack, so the next block is predictable.",
            "vLLM 0.33.0, v1/core/block_pool.py, 2026-11",
        ),
        EngineNote(
            "Freeing erases nothing in vLLM either. It zeroes blocks when they are given, and only "
            "for models with Mamba layers or a cache of mixed precision.",
            "vLLM 0.33.0, v1/kv_cache_interface.py, 2026-11",
        ),
        EngineNote(
            "vLLM withholds block 0 as a null block, which table entries that lead nowhere point "
            "to; SGLang withholds slot 0 for padding. We withhold none: an unused entry is −1.",
            "vLLM 0.33.0, v1/core/block_pool.py, 2026-11; SGLang 0.5.23, srt/mem_cache/allocator, "
            "2026-10",
        ),
    ),
    frames=FRAMES,
    script=script,
)
