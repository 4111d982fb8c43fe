"""Small hand-made traces, so that a test can say what it expects of a figure in plain numbers.

Weights are of one layer count and two heads: head 0 gives every key the same weight, head 1 all of
it to the newest key; the dense reference differs from the kernel by ``OFF`` in the last key.
"""

import numpy as np

from pagedkv.settings import Settings
from pagedkv.trace.frame import AttentionView, Frame, Runtime, Trace
from pagedkv.trace.state import (
    ContiguousView,
    RequestView,
    ReservationView,
    State,
    Totals,
)

OFF = 2.0**-20  # about 9.5e-07, exact in float32 beside weights of at most 1
LAYERS = 2


def attended(request: str, query: int, blocks: tuple[int, ...], size: int = 4) -> tuple:
    """One query's views, a layer each; ``blocks`` is the request's table."""
    return tuple(view(request, query, layer, blocks, size) for layer in range(LAYERS))


def view(
    request: str, query: int, layer: int, blocks: tuple[int, ...], size: int = 4
) -> AttentionView:
    length = query + 1
    even = np.full(length, 1 / length, np.float32)
    newest = np.eye(length, dtype=np.float32)[-1]
    paged = np.stack([even, newest])
    dense = paged.copy()
    dense[1, -1] -= OFF * (layer + 1)
    counts = tuple(min(size, length - start) for start in range(0, length, size))
    return AttentionView(
        request=request,
        query_position=query,
        context_length=length,
        layer=layer,
        block_ids=tuple(blocks[position // size] for position in range(length)),
        positions_per_block=counts,
        paged=paged,
        dense=dense,
        max_abs_error_weights=OFF,
        max_abs_error_output=0.0,
        skipped_blocks=(),
        skipped_slots=0,
    )


def request(name: str, text: str, table: tuple[int, ...] = (0,)) -> RequestView:
    return RequestView(name, tuple(text), len(text), len(text), None, table, len(text))


def totals(
    stored: int, empty: int, *, capacity: int = 24, blocks: int = 0, entries: int | None = None
) -> Totals:
    free = capacity - stored - empty
    return Totals(
        capacity_slots=capacity,
        allocated_slots=stored + empty,
        stored_slots=stored,
        empty_slots=empty,
        free_slots=free,
        blocks_in_use=blocks,
        free_blocks=6 - blocks,
        table_entries=blocks if entries is None else entries,
    )


def frame(
    index: int,
    title: str = "A frame",
    *,
    requests: tuple[RequestView, ...] = (),
    waiting: tuple[str, ...] = (),
    use: Totals | None = None,
    contiguous: ContiguousView | None = None,
    attention: tuple[AttentionView, ...] | None = None,
) -> Frame:
    return Frame(
        index=index,
        title=title,
        caption="",
        facts=(),
        events=(),
        state=State(requests, waiting, (), (), use or totals(0, 0)),
        contiguous=contiguous,
        lookup=None,
        what_if=None,
        attention=attention,
        check=None,
        execution=None,
        worked_score=None,
        comparison=None,
        vector_ids=(),
    )


def trace(*frames: Frame, settings: Settings | None = None, backend: str = "torch") -> Trace:
    return Trace(
        lesson="made-up",
        figure=None,
        settings=settings or Settings(),
        runtime=Runtime("cpu", backend, None, "a toy"),
        infeasible=None,
        frames=frames,
        layers=tuple(range(LAYERS)),
        vectors=np.zeros((0, 2, LAYERS, 1, 1), np.float32),
    )


def growing() -> Trace:
    """B processes positions 3, 4 and 5 in two frames, from P3 into P0; C never attends."""
    b, c = request("B", "RO\nE <", (3, 0)), request("C", "JU")
    first = attended("B", 3, (3,))
    second = (*attended("B", 4, (3, 0)), *attended("B", 5, (3, 0)))
    return trace(
        frame(0, requests=(c, b), attention=first, use=totals(6, 2, blocks=2)),
        frame(1, requests=(c, b), attention=second, use=totals(8, 4, blocks=3)),
        backend="triton-interpreter",
    )


def reserving() -> Trace:
    """B reserves 20 of 24 positions and stores 6; beside it the pool holds 6 in 2 blocks."""
    strip = ContiguousView(24, (ReservationView("B", 0, 20, 6, tuple("ROMEO:")),), 4, ("C",))
    return trace(
        frame(0, "One <piece>", use=totals(6, 2, blocks=2), contiguous=strip),
        frame(1, "Both", use=totals(13, 3, blocks=4), contiguous=strip),
        frame(2, "After", use=totals(13, 3, blocks=4)),
    )


def sharing() -> Trace:
    """Two requests share two blocks, then one of them gets its own."""
    return trace(
        frame(0, use=totals(6, 2, blocks=2, entries=4)),
        frame(1, use=totals(8, 4, blocks=3, entries=4)),
    )
