"""A trace as text, a frame at a time: the lesson for those who cannot or need not see the board.

The screen in words: caption, check and execution, tables, blocks with their slots, free blocks in
the order in which they will be given, waiting requests, the sums of the ledger, and how close
attention came to the dense reference. Of the numbers that one can point at, weights of the last
layer's first head stand here; those of other heads, and K and V, do not.
"""

from collections.abc import Iterator

from pagedkv.trace.errors import worst
from pagedkv.trace.frame import (
    AttentionView,
    Check,
    Comparison,
    ExecutionView,
    Frame,
    Trace,
    WhatIf,
    WorkedScore,
)
from pagedkv.trace.state import BlockView, ContiguousView, RequestView, SlotView, Totals
from pagedkv.trace.written import small, visible

_RULE = "-" * 72


def trace_to_text(trace: Trace, title: str) -> str:
    """The whole lesson; ``title`` is its name for people."""
    settings, runtime = trace.settings, trace.runtime
    lines = [
        title,
        f"block size {settings.block_size}, capacity {settings.capacity} positions = "
        f"{settings.num_blocks} blocks ({settings.unusable_slots} slots unusable), "
        f"prompt length {settings.prompt_length}",
        f"computed by {runtime.backend} on {runtime.gpu or runtime.device}, {runtime.model}",
    ]
    if trace.infeasible:
        lines.append(f"Note: {trace.infeasible}")
    for frame in trace.frames:
        lines += ["", *_frame(frame, trace)]
    return "\n".join(lines) + "\n"


def _frame(frame: Frame, trace: Trace) -> Iterator[str]:
    yield _RULE
    yield f"{frame.index + 1} of {len(trace.frames)}: {frame.title}"
    yield frame.caption
    if frame.what_if:
        yield from _what_if(frame.what_if)
    if frame.check:
        yield _check(frame.check)
    if frame.execution:
        yield _execution(frame.execution)
    if frame.contiguous:
        yield from _contiguous(frame.contiguous)
    yield from map(_request, frame.state.requests)
    if frame.state.waiting:
        yield f"  waiting: {', '.join(frame.state.waiting)}"
    yield from map(_block, frame.state.blocks)
    free = ", ".join(f"P{block_id}" for block_id in frame.state.free_blocks)
    yield f"  free, next one first: {free or 'none'}"
    yield from _ledger(frame.state.totals, trace.settings.num_blocks)
    if frame.lookup:
        error = worst(e for v in frame.lookup for e in (v.max_abs_error_k, v.max_abs_error_v))
        yield (
            f"  look-up: all {len(frame.lookup)} stored positions found; K and V differ from the "
            f"dense copy by at most {small(error)}"
        )
    if frame.worked_score:
        yield _worked_score(frame.worked_score)
    if frame.comparison:
        yield from _comparison(frame.comparison)
    yield from _attention(frame.attention or ())


def _check(check: Check) -> str:
    last_block = f"room in its last block {check.empty_in_last_block}"
    if check.copies:
        last_block = f"shared blocks to copy {check.copies}"
    return (
        f"  check of {check.request}: inputs {check.num_inputs}, {last_block}, "
        f"blocks needed {check.needed}, free {check.free}: "
        f"{'fits' if check.fits else 'does not fit'}"
    )


def _execution(execution: ExecutionView) -> str:
    inputs = " + ".join(f"{count.num_tokens} of {count.request}" for count in execution.inputs)
    within = "within" if execution.num_tokens <= execution.token_budget else "over"
    return (
        f"  one execution: inputs {inputs} = {execution.num_tokens}, "
        f"{within} the token budget {execution.token_budget}"
    )


def _request(request: RequestView) -> str:
    table = ", ".join(f"L{i}→P{block_id}" for i, block_id in enumerate(request.block_table))
    text = "".join(map(visible, request.tokens))
    pending = f", next input {visible(request.pending_token)}" if request.pending_token else ""
    return (
        f"  {request.name} “{text}”: {request.num_stored} of {request.num_tokens} stored, "
        f"table {table or 'empty'}{pending}"
    )


def _block(block: BlockView) -> str:
    owners = ", ".join(block.slots[0].owners) or "nobody"
    slots = " ".join(map(_slot, block.slots))
    return f"  P{block.block_id} [{slots}] ref {block.ref_count}, {owners}"


def _slot(slot: SlotView) -> str:
    token = visible(slot.token or "?")
    text = {
        "free": "·",
        "stale": f"~{token}{slot.position}~",
        "empty": f"({slot.position})",
        "stored": f"{token}{slot.position}",
    }[slot.state]
    return f"*{text}*" if slot.written_now else text


def _ledger(totals: Totals, num_blocks: int) -> Iterator[str]:
    free, in_use = totals.free_blocks, totals.blocks_in_use
    stored, empty, allocated = totals.stored_slots, totals.empty_slots, totals.allocated_slots
    sign = "=" if free + in_use == num_blocks else "≠"
    yield f"  pool: {free} free + {in_use} in use {sign} {num_blocks} blocks"
    sign = "=" if stored + empty == allocated else "≠"
    yield f"  slots: {stored} stored + {empty} empty {sign} {allocated} allocated"


def _contiguous(view: ContiguousView) -> Iterator[str]:
    for reservation in view.reservations:
        yield (
            f"  in one piece: {reservation.request} reserved {reservation.reserved} of "
            f"{view.capacity_slots}, {reservation.stored} stored"
        )
    refused = f"; refused: {', '.join(view.refused)}" if view.refused else ""
    yield f"  in one piece: {view.free_slots} left{refused}"


def _what_if(what_if: WhatIf) -> Iterator[str]:
    yield f"  What if {what_if.title}: {what_if.text}"
    cells = " ".join(
        f"P{cell.block_id}.{cell.offset}{'!' if cell.wrong else ''}" for cell in what_if.cells
    )
    yield f"  slots in question (! = wrong): {cells}"


def _worked_score(score: WorkedScore) -> str:
    return (
        f"  one score: q·k {score.dot:.2f} × {score.scale:.4f} = {score.score:.2f}; "
        f"weight: exp({score.score:.2f} - {score.max_score:.2f}) / {score.denominator:.2f} = "
        f"{score.weight:.2f}, the kernel's {score.kernel_weight:.2f}"
    )


def _comparison(comparison: Comparison) -> Iterator[str]:
    prompts = " and ".join(f"“{''.join(map(visible, text))}”" for text in comparison.prompts)
    yield f"  position {comparison.position} of {prompts}, largest differences:"
    for layer in comparison.layers:
        yield f"    layer {layer.layer}: K {layer.max_abs_k:.2f}, V {layer.max_abs_v:.2f}"


def _attention(views: tuple[AttentionView, ...]) -> Iterator[str]:
    for name in dict.fromkeys(view.request for view in views):
        last = [view for view in views if view.request == name][-1]
        weights = ", ".join(f"{weight:.2f}" for weight in last.paged[0])
        yield (
            f"  attention of {name}, position {last.query_position}, layer {last.layer}, head 0: "
            f"{weights}; sum {last.paged[0].sum():.2f}, "
            f"largest difference to dense {small(last.max_abs_error_weights)}"
        )
