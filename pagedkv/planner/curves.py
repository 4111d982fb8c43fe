"""Requests at once against their length, for several block sizes and for several dtypes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pagedkv.planner.choices import RANGES, Choices
from pagedkv.planner.plan import Plan, make_plan

BLOCK_SIZES = (16, 64, 256)
DTYPE_BYTES = (1, 2, 4)
FIRST_LENGTH = 16
POINTS_PER_DOUBLING = 4
BEYOND = 4  # times the maximum length, so that it stands inside the picture


@dataclass(frozen=True, slots=True)
class Curve:
    """``requests_at_once`` at each of ``lengths``, for one ``value`` of what is varied.

    It ends at the longest length that fits, if that is within the picture.
    """

    value: int
    lengths: tuple[int, ...]
    requests: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """A curve for each block size and for each size of a number, and the point that is planned."""

    by_block_size: tuple[Curve, ...]
    by_dtype: tuple[Curve, ...]
    block_size: int
    dtype_bytes: int
    max_len: int
    requests_at_once: float


def concurrency_curves(plan: Plan) -> Curves:
    """Vary block size and dtype of a plan, one at a time; the plan's own value is always there."""
    chosen = plan.choices
    last = min(max(chosen.max_len * BEYOND, 1024), RANGES["max_len"][-1])
    return Curves(
        by_block_size=tuple(
            _curve(size, replace(chosen, block_size=size), last)
            for size in sorted({*BLOCK_SIZES, chosen.block_size})
        ),
        by_dtype=tuple(
            _curve(size, replace(chosen, dtype_bytes=size), last)
            for size in sorted({*DTYPE_BYTES, chosen.dtype_bytes})
        ),
        block_size=chosen.block_size,
        dtype_bytes=chosen.dtype_bytes,
        max_len=chosen.max_len,
        requests_at_once=plan.requests_at_once,
    )


def _curve(value: int, chosen: Choices, last: int) -> Curve:
    longest = make_plan(chosen).max_len_that_fits
    lengths = [length for length in lengths_up_to(last, chosen.max_len) if length <= longest]
    if FIRST_LENGTH <= longest < last and longest not in lengths:
        lengths.append(longest)
    plans = (make_plan(replace(chosen, max_len=length)) for length in lengths)
    return Curve(value, tuple(lengths), tuple(plan.requests_at_once for plan in plans))


def lengths_up_to(last: int, planned: int) -> Iterable[int]:
    """Lengths that are evenly spread on a scale of powers, ``planned`` among them."""
    lengths = {planned, FIRST_LENGTH}
    step = 0
    while (length := round(FIRST_LENGTH * 2 ** (step / POINTS_PER_DOUBLING))) <= last:
        lengths.add(length)
        step += 1
    return sorted(lengths)
