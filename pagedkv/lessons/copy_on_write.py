"""Copy-on-write: a shared block is copied when, and only when, someone must write into it."""

from pagedkv.layout import blocks_needed, empty_slots
from pagedkv.lessons.base import EngineNote, Lesson, Preset, Words
from pagedkv.lessons.opening import PROMPT_WAITS, store
from pagedkv.lessons.remedies import what_would_do
from pagedkv.model.prompts import PASSAGE_SHARED, prompt
from pagedkv.recorder import Recorder
from pagedkv.settings import Settings
from pagedkv.suppositions import suppose, write_shared

FRAMES = {
    "shared": Words(
        "Two answers, one copy",
        "R2 was forked from R1: the prompt's {state.requests[R1].num_stored:position} "
        "{state.requests[R1].num_stored:lies|lie} in "
        "{state.requests[R1].block_table:P}, for both responses alike. "
        "{state.totals.table_entries} table entries point to "
        "{state.totals.blocks_in_use:block}.",
    ),
    "selected": Words(
        "Choosing different outputs copies nothing",
        "R1 goes on with {state.requests[R1].pending_token:char}, R2 with "
        "{state.requests[R2].pending_token:char}. Both are only selected: no KV exists for them, "
        "and still {state.totals.blocks_in_use:block} {state.totals.blocks_in_use:serves|serve} "
        "both.",
    ),
    "one_slot": Words(
        "One slot, two different KVs",
        "The next position of both falls into the same shared block, "
        "P{state.requests[R1].block_table[-1]}. It has room, but a slot is one place in memory: "
        "it cannot be R1's and R2's at once.",
    ),
    "if_both_write": Words(
        "both wrote into the shared block",
        "R1's {state.requests[R1].pending_token:char} and R2's "
        "{state.requests[R2].pending_token:char} are both to be position "
        "{state.requests[R1].num_tokens}, so both would land in one slot. Whoever wrote last would "
        "have replaced the other's KV.",
    ),
    "check_copy": Words(
        "Check: an empty slot is not enough",
        "R1's last block has {check.empty_in_last_block:empty slot}, but another request refers "
        "to it. Writing needs a block of R1's own first: {check.needed:block} needed, {check.free} "
        "free.",
    ),
    "copied": Words(
        "Copied, and R1's table points to the copy",
        "P{events[BlockCopied].source} was copied to P{events[BlockCopied].destination}, "
        "{len(events[BlockCopied].positions):stored position} in every layer and head. R1's table "
        "now has L{events[TableChanged].logical_block} → P{events[TableChanged].block_id}, and "
        "P{events[RefCountChanged].block_id}'s ref count went from "
        "{events[RefCountChanged].before} to {events[RefCountChanged].after}.",
    ),
    "first_writes": Words(
        "R1 writes into its own copy",
        "The KV of {state.requests[R1].tokens[-1]:char} went into the "
        "{execution.inputs[R1].first_offset:ordinal} slot of "
        "P{state.requests[R1].block_table[-1]}. R2 still reads "
        "P{state.requests[R2].block_table[-1]}, which it now holds alone.",
    ),
    "check_in_place": Words(
        "Check: now R2 is the only owner",
        "R2's next input goes to the same position, and its last block, "
        "P{state.requests[R2].block_table[-1]}, has no other owner any more: no further "
        "block is needed. Had R2 gone first, R2 would have made the copy.",
    ),
    "second_writes": Words(
        "R2 writes in place",
        "{state.requests[R2].tokens[-1]:char} went into the "
        "{execution.inputs[R2].first_offset:ordinal} slot of "
        "P{state.requests[R2].block_table[-1]}, without a copy. "
        "{state.totals.blocks_in_use:block} {state.totals.blocks_in_use:is|are} in use; without "
        "sharing it would be {state.totals.table_entries}.",
    ),
    "attend": Words(
        "Each with its own query, over its own context",
        "R1's query read {attention[R1$].context_length:position} in "
        "{state.requests[R1].block_table:P}; R2's read {attention[R2$].context_length} in "
        "{state.requests[R2].block_table:P}. What they share was read by both, and written by "
        "neither.",
    ),
    "attend_nothing_shared": Words(
        "Each with its own query, over its own context",
        "R1's query read {attention[R1$].context_length:position} in "
        "{state.requests[R1].block_table:P}; R2's read {attention[R2$].context_length} in "
        "{state.requests[R2].block_table:P}. The prompt fitted into the one block that was copied, "
        "so nothing is shared any more.",
    ),
    "check_full": Words(
        "Check: a full block is never written",
        "The prompt fills its last block, P{state.requests[R1].block_table[-1]}. The next position "
        "opens a new logical block, L{check.logical_block}, so there is nothing to copy: "
        "{check.needed:block} needed, {check.free} free.",
    ),
    "first_new_block": Words(
        "A new block instead of a copy",
        "R1 took P{events[BlockAllocated].block_id} for L{events[BlockAllocated].logical_block} "
        "and wrote into its first slot. The full blocks stay shared.",
    ),
    "second_new_block": Words(
        "And one for R2",
        "R2 took P{events[BlockAllocated].block_id} for its own "
        "L{events[BlockAllocated].logical_block}. "
        "{state.totals.blocks_in_use:block} {state.totals.blocks_in_use:is|are} in use for "
        "{state.totals.table_entries} table entries, and nothing was copied.",
    ),
    "prompt_waits": PROMPT_WAITS,
    "stuck": Words(
        "No block to go on with",
        "{check.request}'s next input needs {check.needed:block}, and {check.free} "
        "{check.free:is|are} free. Nothing is written, nothing is lost; it has to wait.",
    ),
    "infeasible_full": Words(
        "Not at these settings",
        "A prompt of {config.prompt_length:position} fills its last block of "
        "{config.block_size:slot}, and a full block is never copied.",
    ),
    "infeasible_always_full": Words(
        "Not at these settings",
        "A block of {config.block_size:slot} is full as soon as it is written, so nothing is ever "
        "copied.",
    ),
    "infeasible_no_block": Words(
        "Not at these settings",
        "No block is free for the copy: the pool has {config.num_blocks:block}.",
    ),
}


def can_show(settings: Settings) -> bool:
    """Whether the prompt leaves its last block part-filled, and a block free for the copy."""
    length, block_size = settings.prompt_length, settings.block_size
    with_copy = blocks_needed(length, block_size) + 1
    return empty_slots(length, block_size) > 0 and with_copy <= settings.num_blocks


def script(stage: Recorder) -> None:
    """Fork, select different outputs, and let both be processed one after the other."""
    text = prompt(PASSAGE_SHARED, stage.settings.prompt_length)
    remedy = what_would_do(stage.settings, can_show)
    last_is_full = len(text) % stage.settings.block_size == 0
    if not fork_after_prompt(stage, text):
        stage.show("prompt_waits")
        stage.cannot_show(why_full(stage) if last_is_full else "infeasible_no_block", remedy)
        return
    both_went_on = fill_new_blocks(stage) if last_is_full else split_last_block(stage)
    if both_went_on:
        is_shared = any(block.ref_count > 1 for block in stage.state().blocks)
        stage.show("attend" if is_shared else "attend_nothing_shared", keep_attention=True)
    if last_is_full:
        stage.cannot_show(why_full(stage), remedy)
    elif not both_went_on:
        stage.cannot_show("infeasible_no_block", remedy)


def why_full(stage: Recorder) -> str:
    """Key of the reason why no block is copied where the prompt fills its last one."""
    return "infeasible_always_full" if stage.settings.block_size == 1 else "infeasible_full"


def fork_after_prompt(stage: Recorder, text: str) -> bool:
    """One prompt, two responses, and a different output for each; say if the prompt fitted."""
    if not store(stage, "R1", text):
        return False
    stage.engine.fork("R1", "R2")
    stage.show("shared")
    stage.engine.select("R1")
    stage.engine.select("R2", rank=1)
    stage.show("selected")
    return True


def split_last_block(stage: Recorder) -> bool:
    """R1 must copy, R2 need not; say whether there was a block for the copy."""
    cells = write_shared(stage.state(), ("R1", "R2"), stage.settings.block_size)
    stage.show("one_slot", what_if=suppose("both-write", "R1", FRAMES["if_both_write"], cells))
    if not stage.check_append("R1"):
        stage.append("R1")
        stage.show("stuck")
        return False
    stage.show("check_copy")
    stage.append("R1")
    stage.show("copied")
    write(stage, "R1", "first_writes")
    stage.check_append("R2")
    stage.show("check_in_place")
    stage.append("R2")
    write(stage, "R2", "second_writes")
    return True


def fill_new_blocks(stage: Recorder) -> bool:
    """Nobody writes into a full block: each takes a new one; say whether both could."""
    for name, key in (("R1", "first_new_block"), ("R2", "second_new_block")):
        if not stage.check_append(name):
            stage.append(name)
            stage.show("stuck")
            return False
        if name == "R1":
            stage.show("check_full")
        stage.append(name)
        write(stage, name, key)
    return True


def write(stage: Recorder, name: str, key: str) -> None:
    """Process the one input that has its slot already."""
    stage.execute(name)
    stage.show(key)


LESSON = Lesson(
    slug="copy-on-write",
    order=6,
    figure=6,
    title="Copy-on-write",
    question="Both answers point to the same last block. What must happen before one may write?",
    takeaway=(
        "A shared block is copied at the moment of the write, by whoever writes first; the last "
        "owner writes in place, and a full block is never copied."
    ),
    minutes=8,
    in_engines_today=(
        EngineNote(
            "vLLM's V0 engine copied a shared block before a write, as here; v0.11 removed it. "
            "Today only full blocks are shared, except in models with Mamba layers: if a prefix "
            "hit ends inside a block, that is copied at admission, not at the write.",
            "vLLM v0.11.0 release notes, 2025-10; vLLM 0.33.0, "
            "v1/core/single_type_kv_cache_manager.py, 2026-11",
        ),
        EngineNote(
            "TensorRT-LLM shares full blocks and copies at most the last: when a new prompt "
            "matches only the beginning of a cached block that others use, that block is copied at "
            "once (copy_on_partial_reuse, on by default).",
            "TensorRT-LLM 1.4.0rc4 reference, KvCacheConfig; batch_manager/kvCacheManager.cpp, "
            "2026",
        ),
    ),
    frames=FRAMES,
    script=script,
    presets=(Preset("Prompt fills its blocks", Settings(prompt_length=8)),),
)
