"""Whether a request of the maximum length fits, in words; and if not, what would make it."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil

from pagedkv.planner.choices import DTYPES, RANGES, Choices, can_share
from pagedkv.planner.memory import GIB, GpuMemory, Memory, weights_on_each
from pagedkv.planner.plan import Plan, make_plan, page_bytes_of


def verdict_words(plan: Plan) -> str:
    """What the plan comes to, in a sentence or two."""
    choices = plan.choices
    if choices.memory.kv_bytes < 0:
        return (
            "The model does not fit: weights and overhead are "
            f"{_short_by(-choices.memory.exact_gib):,.2f} GiB more than the engine may take, so "
            "nothing is left for KV."
        )
    if plan.num_blocks == 0:
        return (
            f"Not one block fits: it has {plan.block_bytes:,} B, and there are "
            f"{choices.memory.kv_bytes:,} B for KV."
        )
    if not plan.fits:
        return (
            f"Not even one request of {choices.max_len:,} positions fits: it needs "
            f"{plan.blocks_per_request:,} blocks, and there are {plan.num_blocks:,}."
        )
    return (
        f"{plan.requests_at_once:,.2f} requests of {choices.max_len:,} positions fit at once, each "
        f"in {plan.blocks_per_request:,} blocks."
    )


def advice_words(plan: Plan) -> tuple[str, ...]:
    """What would let one request of the maximum length fit, in sentences; none if it does."""
    return () if plan.fits else tuple(_ways(plan))


def _ways(plan: Plan) -> Iterator[str]:
    choices = plan.choices
    if plan.max_len_that_fits:
        yield f"A maximum length of {plan.max_len_that_fits:,} fits."
    needed = _hundredths_up(Fraction(plan.blocks_per_request * plan.block_bytes, GIB))
    there = _there(plan, needed)
    yield f"It would take {needed:,.2f} GiB for KV on each GPU; there are {there:,.2f}."
    if _fits_in_bytes(choices):
        yield f"A KV cache of 1 byte a number ({DTYPES[1]}) would do."
    wider = _wider(plan)
    if wider is not None:
        yield _wider_words(wider)


def _hundredths_up(gib: Fraction) -> float:
    """GiB to two decimals that are enough."""
    return ceil(gib * 100) / 100


def _short_by(gib: Fraction) -> float:
    """GiB that are too many, rounded as everywhere, but never to none."""
    return max(round(float(gib), 2), 0.01)


def _there(plan: Plan, needed: float) -> float:
    """GiB for KV, rounded as everywhere, but down where it would look like what is needed."""
    there = max(plan.choices.memory.kv_bytes, 0)
    nearest = round(there / GIB, 2)
    return nearest if nearest < needed else there * 100 // GIB / 100


def _fits_in_bytes(choices: Choices) -> bool:
    """Whether one byte a number would do; no promise for a latent, of which vLLM's fp8 keeps more.

    Its layout fp8_ds_mla takes 656 B for 512 + 64 numbers; see ``docs/sources.md``.
    """
    if choices.dtype_bytes == 1 or choices.geometry.latent is not None:
        return False
    return make_plan(replace(choices, dtype_bytes=1)).fits


def _wider(plan: Plan) -> Choices | None:
    """The fewest GPUs with which it fits and whose engine would start; None if none do.

    Every number up to the largest is tried, but for those that heads cannot be shared by: more GPUs
    do not always hold more, so none can be skipped. How many blocks a request needs is the same for
    all, so a number costs no plan, but a comparison of bytes. Weights are taken to be shared
    evenly, rounded up to what is printed; the overhead stays on each.
    """
    choices = plan.choices
    for tp in range(choices.tp + 1, RANGES["tp"].stop):
        if can_share(choices.geometry, tp):
            wider = replace(choices, tp=tp, memory=_shared(choices.memory, choices.tp, tp))
            block_bytes = page_bytes_of(wider) * plan.group_size
            if plan.blocks_per_request * block_bytes <= wider.memory.kv_bytes:
                return wider
    return None


def _shared(memory: Memory, before: int, after: int) -> Memory:
    """The memory of one of ``after`` GPUs, where each of ``before`` had its share of weights."""
    if not isinstance(memory, GpuMemory):
        return memory
    return replace(memory, weights_gib=weights_on_each(memory.weights_gib, after, before=before))


def _wider_words(wider: Choices) -> str:
    weights = ""
    if isinstance(wider.memory, GpuMemory):
        weights = f", each with {wider.memory.weights_gib:,.2f} GiB of the weights"
    return f"Tensor parallelism over {wider.tp} such GPUs would do{weights}."
