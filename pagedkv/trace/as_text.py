"""A trace as text, a frame at a time: the lesson for those who cannot or need not see the board.

The screen in words: caption, check and execution, tables, blocks with their slots, free blocks in
the order in which they will be given, waiting requests, the sums of the ledger, one look-up in
figures, and how close attention came to the dense reference. Of the numbers that one can point at,
the weights of the layer and head that the screen shows first stand here; those of other heads, and
K and V, do not.
"""

from collections.abc import Iterator, Sequence

from pagedkv.trace.errors import worst
from pagedkv.trace.first_look import first_look, last_queries
from pagedkv.trace.frame import (
    AttentionView,
    Check,
    Comparison,
    ExecutionView,
    Frame,
    LookupView,
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
    layer, head = first_look(trace)
    for frame in trace.frames:
        lines += ["", *_frame(frame, trace), *_attention(frame.attention, layer, head)]
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
        yield from _lookup(frame.lookup, trace.settings.block_size)
    if frame.worked_score:
        yield _worked_score(frame.worked_score)
    if frame.comparison:
        yield from _comparison(frame.comparison)


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
    cells = ", ".join(
        f"{cell.block_label}.{cell.offset}{'!' if cell.wrong else ''}" for cell in what_if.cells
    )
    yield f"  slots in question (! = wrong): {cells}"


def _lookup(lookup: Sequence[LookupView], block_size: int) -> Iterator[str]:
    """Work one out, the last stored position of the first request, and sum up all."""
    one = [view for view in lookup if view.request == lookup[0].request][-1]
    logical, offset, physical = one.logical_block, one.offset, one.block_id
    yield (
        f"  look-up of {one.request}'s position {one.position}: {one.position} ÷ {block_size} = "
        f"{logical} remainder {offset}, so L{logical}, offset {offset}; "
        f"table L{logical}→P{physical}; "
        f"{physical} × {block_size} + {offset} = slot {one.flat_slot} of the pool"
    )
    error = worst(e for view in lookup for e in (view.max_abs_error_k, view.max_abs_error_v))
    yield (
        f"  look-up: all {len(lookup)} stored positions found; K and V differ from the "
        f"dense copy by at most {small(error)}"
    )


def _worked_score(score: WorkedScore) -> str:
    return (
        f"  one score, {score.request}'s position {score.query_position} asks position "
        f"{score.key_position}, layer {score.layer}, head {score.head}: "
        f"q·k {score.dot:.2f} × {score.scale:.4f} = {score.score:.2f}; "
        f"weight: exp({score.score:.2f} - {score.max_score:.2f}) / {score.denominator:.2f} = "
        f"{score.weight:.2f}, the kernel's {score.kernel_weight:.2f}"
    )


def _comparison(comparison: Comparison) -> Iterator[str]:
    prompts = " and ".join(f"“{''.join(map(visible, text))}”" for text in comparison.prompts)
    yield f"  position {comparison.position} of {prompts}, largest differences:"
    for layer in comparison.layers:
        yield f"    layer {layer.layer}: K {layer.max_abs_k:.2f}, V {layer.max_abs_v:.2f}"


def _attention(views: Sequence[AttentionView] | None, layer: int, head: int) -> Iterator[str]:
    for view in last_queries(views):
        if view.layer != layer:
            continue
        weights = ", ".join(f"{weight:.2f}" for weight in view.paged[head])
        yield (
            f"  attention of {view.request}, position {view.query_position}, layer {layer}, "
            f"head {head}: {weights}; sum {view.paged[head].sum():.2f}, largest difference to "
            f"dense: weights {small(view.max_abs_error_weights)}, "
            f"output {small(view.max_abs_error_output)}"
        )
