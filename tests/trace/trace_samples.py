"""A frame made by hand: small enough to know every value in it."""

from dataclasses import replace
from typing import Any

from pagedkv.events import BlockAllocated, SlotsWritten
from pagedkv.trace.frame import AttentionView, Frame
from pagedkv.trace.state import BlockView, RequestView, SlotView, State, Totals

TOTALS = Totals(
    capacity_slots=8,
    allocated_slots=8,
    stored_slots=5,
    empty_slots=3,
    free_slots=0,
    blocks_in_use=2,
    free_blocks=0,
    table_entries=2,
)


def request(name: str, text: str, *block_table: int, pending: str | None = None) -> RequestView:
    return RequestView(name, tuple(text), len(text), len(text), pending, block_table, len(text))


def attention(name: str, layer: int, **fields: Any) -> AttentionView:
    view = AttentionView(
        request=name,
        query_position=4,
        context_length=5,
        layer=layer,
        block_ids=(1, 1, 1, 1, 0),
        positions_per_block=(4, 1),
        paged=None,
        dense=None,
        max_abs_error_weights=0.0,
        max_abs_error_output=0.0,
        skipped_blocks=(),
        skipped_slots=3,
    )
    return replace(view, **fields)


FRAME = Frame(
    index=0,
    title="",
    caption="",
    facts=(),
    events=(
        BlockAllocated("B", 0, 1),
        BlockAllocated("B", 1, 0),
        SlotsWritten("B", (4, 5, 6, 7, 0), (0, 1, 2, 3, 4)),
    ),
    state=State(
        requests=(
            request("B", "ROMEO", 1, 0, pending=" "),
            request("R1", "x", *range(9), pending="\n"),
            request("R2", "y"),
        ),
        waiting=("C", "D"),
        blocks=(BlockView(0, 1, (SlotView("empty", ("B",), 4, None, False),)),),
        free_blocks=(),
        totals=TOTALS,
    ),
    contiguous=None,
    lookup=None,
    what_if=None,
    attention=(attention("B", 0), attention("B", 1), attention("B", 2)),
    check=None,
    execution=None,
    worked_score=None,
    comparison=None,
    vector_ids=(),
)
