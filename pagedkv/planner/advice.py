"""Whether a request of the maximum length fits, in words; and if not, what would make it."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from pagedkv.planner.choices import DTYPES, RANGES, Choices, can_share
from pagedkv.planner.memory import GIB, GpuMemory
from pagedkv.planner.plan import Plan, plan


def verdict_words(made: Plan) -> str:
    """What the plan comes to, in a sentence or two."""
    choices = made.choices
    if choices.memory.kv_bytes < 0:
        return (
            "The model does not fit: weights and overhead are "
            f"{-choices.memory.kv_bytes / GIB:,.2f} GiB more than the engine may take, so nothing "
            "is left for KV."
        )
    if made.num_blocks == 0:
        return (
            f"Not one block fits: it has {made.block_bytes:,} B, and there are "
            f"{choices.memory.kv_bytes:,} B for KV."
        )
    if not made.fits:
        return (
            f"Not even one request of {choices.max_len:,} positions fits: it needs "
            f"{made.blocks_per_request:,} blocks, and there are {made.num_blocks:,}."
        )
    return (
        f"{made.max_concurrency:,.2f} requests of {choices.max_len:,} positions fit at once, each "
        f"in {made.blocks_per_request:,} blocks."
    )


def advice_words(made: Plan) -> tuple[str, ...]:
    """What would let one request of the maximum length fit, in sentences; none if it does."""
    return () if made.fits else tuple(_ways(made))


def _ways(made: Plan) -> Iterator[str]:
    choices = made.choices
    if made.max_len_that_fits:
        yield f"A maximum length of {made.max_len_that_fits:,} fits."
    needed = ceil(made.blocks_per_request * made.block_bytes / GIB * 100) / 100
    there = max(choices.memory.kv_bytes, 0) / GIB
    yield f"It would take {needed:,.2f} GiB for KV on each GPU; there are {there:,.2f}."
    if choices.dtype_bytes > 1 and plan(replace(choices, dtype_bytes=1)).fits:
        yield f"A KV cache of 1 byte a number ({DTYPES[1]}) would do."
    wider = _wider(choices)
    if wider is not None:
        yield _wider_words(wider)


def _wider(choices: Choices) -> Choices | None:
    """The fewest GPUs with which it fits, at twice as many again and again; None if none do.

    Weights are taken to be shared evenly; the overhead stays on each.
    """
    tp = choices.tp * 2
    while tp in RANGES["tp"]:
        memory = choices.memory
        if isinstance(memory, GpuMemory):
            memory = replace(memory, weights_gib=memory.weights_gib * choices.tp / tp)
        if can_share(choices.geometry, tp):
            wider = replace(choices, tp=tp, memory=memory)
            if plan(wider).fits:
                return wider
        tp *= 2
    return None


def _wider_words(wider: Choices) -> str:
    weights = ""
    if isinstance(wider.memory, GpuMemory):
        weights = f", each with {wider.memory.weights_gib:,.2f} GiB of the weights"
    return f"Tensor parallelism over {wider.tp} such GPUs would do{weights}."
