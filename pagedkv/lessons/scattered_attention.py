"""Scattered attention: one query over blocks that lie apart, without gathering them."""

from collections.abc import Sequence
from dataclasses import replace

from pagedkv.evidence import attention_views, work_out_score
from pagedkv.lessons.base import EngineNote, Lesson, Words
from pagedkv.lessons.opening import (
    B_WAITS,
    b_and_c_after_one_execution,
    b_can_take_one_more_block,
    explain_refusal_of_b,
)
from pagedkv.lessons.remedies import what_would_do
from pagedkv.narration import join
from pagedkv.recorder import Recorder
from pagedkv.suppositions import straight_on, suppose
from pagedkv.trace.errors import agree
from pagedkv.trace.frame import WhatIfCell

# What a slot read by mistake holds.
OTHERS_KV = "C's KV"
OTHER_POSITIONS_OF_B = "KV of other positions of B"
NEVER_WRITTEN = "bytes of slots never written"

FRAMES = {
    "asks": Words(
        "B asks about its whole context",
        "B's newest input, {state.requests[B].tokens[-1]:char} at position "
        "{attention[B$].query_position}, brings its own query. It attends to "
        "{attention[B$].context_length:position}: {attention[B$].query_position} earlier and its "
        "own. They lie in {state.requests[B].block_table:P}. We chose which blocks are free first, "
        "as if earlier requests had used the pool.",
    ),
    "where_and_how_many": Words(
        "The table says where, the context length how many",
        "In logical order the kernel reads {attention[B$].positions_per_block} from "
        "{state.requests[B].block_table:P}. Not read: {attention[B$].skipped_slots:empty slot} "
        "past the context length, and {len(attention[B$].skipped_blocks):block} of C's.",
    ),
    "where_and_how_many_alone": Words(
        "The table says where, the context length how many",
        "In logical order the kernel reads {attention[B$].positions_per_block} from "
        "{state.requests[B].block_table:P}. Not read: {attention[B$].skipped_slots:empty slot} "
        "past the context length.",
    ),
    "score": Words(
        "One score, worked out",
        "The query asks, a key answers: the dot product of position "
        "{worked_score.query_position}'s Q with position {worked_score.key_position}'s K, which "
        "lies in P{worked_score.block_id}, scaled, then put through the softmax. The result is "
        "how much of that position's V goes into the answer.",
    ),
    "one_softmax": Words(
        "One softmax over all blocks",
        "The weights of all {attention[B$].context_length:position} share one denominator and sum "
        "to one, across {len(attention[B$].positions_per_block):block}; they are not normalised "
        "block by block. Bar by bar they equal the dense reference, which knows no blocks.",
    ),
    "one_softmax_off": Words(
        "One softmax, and something is wrong",
        "The weights of all {attention[B$].context_length:position} share one denominator, across "
        "{len(attention[B$].positions_per_block):block}. In this run they are not those of the "
        "dense reference, which knows no blocks: the engine or its kernel has a fault.",
    ),
    "output": Words(
        "The answer, and no copy made",
        "Each V was weighted where it lies, in {state.requests[B].block_table:P}; nothing was "
        "gathered into one piece first. The mixed output equals the dense one too: where the KV "
        "lies does not change what attention means.",
    ),
    "output_off": Words(
        "The answer, and something is wrong",
        "Each V was weighted where it lies, in {state.requests[B].block_table:P}. In this run the "
        "mixed output is not the dense one: the engine or its kernel has a fault.",
    ),
    "straight_on": Words(
        "What if the kernel ignored the table?",
        "The context length alone is not enough. B's positions follow one another in its own "
        "order; in memory, what follows P{state.requests[B].block_table[0]} is whatever happens "
        "to lie there.",
    ),
    "if_straight_on": Words(
        "the kernel read straight on from B's first block",
        "{what_if.num_wrong} of the {len(what_if.cells):slot} read would hold something other "
        "than the position asked for: STRANGERS. All of it would be in B's answer.",
    ),
    "if_straight_on_by_luck": Words(
        "the kernel read straight on from B's first block",
        "B's blocks happen to lie one behind the other here, so all {len(what_if.cells):slot} read "
        "would be the right ones. Nothing but luck keeps it so: the next block may be anywhere.",
    ),
    "if_straight_on_past_the_end": Words(
        "the kernel read straight on from B's first block",
        "The pool ends after {len(what_if.cells):slot}: what follows there is not KV at all, and "
        "the rest of B's lies elsewhere.",
    ),
    "b_waits": B_WAITS,
    "stuck": Words(
        "No block is free",
        "B's next input needs {check.needed:block}, and {check.free} {check.free:is|are} free. "
        "B stays at {state.requests[B].num_stored:position}; what it attended to last is shown.",
    ),
    "infeasible": Words(
        "Not at these settings",
        "B cannot spread over one more block: the pool has {config.num_blocks:block}.",
    ),
}


def script(stage: Recorder) -> None:
    """Decode B into a new block, unseen; then look at the attention of that one query."""
    feasible = b_and_c_after_one_execution(stage) and decode_into_new_block(stage)
    if "B" not in stage.engine.requests:
        explain_refusal_of_b(stage, "b_waits", "infeasible", b_can_take_one_more_block)
        return
    if not feasible:
        stage.check_append("B")
        stage.show("stuck", keep_attention=True)
    look_at_attention(stage)
    if not feasible:
        stage.cannot_show("infeasible", what_would_do(stage.settings, b_can_take_one_more_block))


def decode_into_new_block(stage: Recorder) -> bool:
    """Decode B until it has taken one more block and stored in it; say if it could."""
    needs_block = False
    while not needs_block:
        needs_block = stage.needs_block("B")
        if not stage.decode("B"):
            return False
    return True


def look_at_attention(stage: Recorder) -> None:
    """The frames about B's last query."""
    c_is_in = "C" in stage.engine.requests
    stage.show("asks", keep_attention=True)
    stage.show("where_and_how_many" if c_is_in else "where_and_how_many_alone", keep_attention=True)
    stage.show("score", keep_attention=True, worked_score=work_out_score(stage.engine, "B"))
    views = attention_views(stage.engine, ("B",))
    weights_agree = agree(view.max_abs_error_weights for view in views)
    stage.show("one_softmax" if weights_agree else "one_softmax_off", keep_attention=True)
    outputs_agree = agree(view.max_abs_error_output for view in views)
    stage.show("output" if outputs_agree else "output_off", keep_attention=True)
    num_stored = stage.engine.cache.num_stored("B")
    cells = straight_on(stage.state(), "B", num_stored, stage.settings.block_size)
    if any(cell.wrong for cell in cells):
        key = "if_straight_on"
    elif len(cells) < num_stored:
        key = "if_straight_on_past_the_end"
    else:
        key = "if_straight_on_by_luck"
    words = FRAMES[key]
    words = replace(words, caption=words.caption.replace("STRANGERS", strangers(cells)))
    what_if = suppose("straight-on", "B", words, cells)
    stage.show("straight_on", keep_attention=True, what_if=what_if)


def strangers(cells: Sequence[WhatIfCell]) -> str:
    """What the wrong ones among the slots read hold, in words."""
    wrong = [cell for cell in cells if cell.wrong]
    stored = [cell for cell in wrong if cell.state == "stored"]
    holds = {
        OTHERS_KV: any("B" not in cell.owners for cell in stored),
        OTHER_POSITIONS_OF_B: any("B" in cell.owners for cell in stored),
        NEVER_WRITTEN: len(stored) < len(wrong),
    }
    return join([words for words, is_held in holds.items() if is_held])


LESSON = Lesson(
    slug="scattered-attention",
    order=4,
    figure=4,
    title="Scattered attention",
    question="B's KV lies in blocks far apart. How can one query attend to all of it?",
    takeaway=(
        "The kernel follows the block table and stops at the context length. One softmax over all "
        "blocks gives what contiguous attention gives, and nothing is gathered first."
    ),
    minutes=8,
    in_engines_today=(
        EngineNote(
            "When few queries run, vLLM's Triton kernel splits their context among programs: each "
            "stores an output, a maximum and a sum of exponentials, and a second kernel merges "
            "them into one softmax. Weights are never stored there; ours are, on request.",
            "vLLM 0.33.0, v1/attention/ops/triton_unified_attention.py, 2026-11",
        ),
        EngineNote(
            "Not everything is read in place. For the prompts of models with latent attention "
            "(MLA), vLLM gathers cached context through the block table into a workspace of fixed "
            "size, piece by piece, and merges the results.",
            "vLLM 0.33.0, model_executor/layers/attention/mla_attention.py, 2026-11",
        ),
        EngineNote(
            "PagedAttention names the paper's method and vLLM's first kernels. vLLM's page on "
            "those kernels now calls itself historical; today FlashAttention, FlashInfer, Triton "
            "and other kernels read the blocks, and the name survives in those for ROCm.",
            "vLLM docs/design/paged_attention.md; vLLM 0.33.0, v1/attention/backends, 2026-11",
        ),
    ),
    frames=FRAMES,
    script=script,
)
