"""The plan: bytes, blocks, positions, requests at once, and the longest request that fits.

All numbers are those of one GPU; every GPU of a tensor-parallel group has the same.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from pagedkv.planner.choices import RANGES, Choices
from pagedkv.planner.groups import Group, blocks_needed, groups_of

ANY_LENGTH = RANGES["max_len"][-1]
BEYOND = 2**60  # positions: more than any memory has bytes


@dataclass(frozen=True, slots=True)
class Plan:
    """What came of ``choices``.

    ``page_bytes`` is one block in one layer, ``block_bytes`` a block in all ``group_size`` layers
    of a group. ``kv_tokens`` is blocks × block size; ``cache_size_tokens`` is what vLLM logs as the
    size of the cache, which is smaller where several groups share the pool. ``max_concurrency``
    may be below 1: then not even one request of the maximum length fits. With
    ``fits_any_length`` windows bound what a request needs, and ``max_len_that_fits`` is no more
    than the longest that may be asked for.
    """

    choices: Choices
    bytes_per_token: int
    page_bytes: int
    groups: tuple[Group, ...]
    group_size: int
    block_bytes: int
    num_blocks: int
    kv_tokens: int
    cache_size_tokens: int
    blocks_per_request: int
    max_concurrency: float
    max_len_that_fits: int
    fits_any_length: bool

    @property
    def fits(self) -> bool:
        """Whether one request of the maximum length fits."""
        return self.blocks_per_request <= self.num_blocks

    @property
    def requests_at_once(self) -> float:
        """``max_concurrency`` as it is shown: down to the hundredth, never more than what fits."""
        return self.num_blocks * 100 // self.blocks_per_request / 100


def page_bytes_of(choices: Choices) -> int:
    """Bytes of one block in one layer, on each GPU."""
    numbers = choices.geometry.numbers_per_position(choices.tp)
    return numbers * choices.dtype_bytes * choices.block_size


def make_plan(choices: Choices) -> Plan:
    """Work out the plan, as vLLM's ``kv_cache_utils.py`` does when an engine starts."""
    geometry = choices.geometry
    page_bytes = page_bytes_of(choices)
    groups = groups_of(geometry)
    group_size = max(group.layers for group in groups)
    block_bytes = page_bytes * group_size
    num_blocks = max(choices.memory.kv_bytes, 0) // block_bytes

    def need(length: int) -> int:
        return sum(
            blocks_needed(group, length, choices.block_size, choices.batched_tokens)
            for group in groups
        )

    longest = longest_that_fits(need, num_blocks)
    blocks_per_request = need(choices.max_len)
    return Plan(
        choices=choices,
        bytes_per_token=page_bytes // choices.block_size * geometry.num_layers,
        page_bytes=page_bytes,
        groups=groups,
        group_size=group_size,
        block_bytes=block_bytes,
        num_blocks=num_blocks,
        kv_tokens=num_blocks * choices.block_size,
        cache_size_tokens=num_blocks // len(groups) * choices.block_size,
        blocks_per_request=blocks_per_request,
        max_concurrency=num_blocks / blocks_per_request,
        max_len_that_fits=ANY_LENGTH if longest is None else longest,
        fits_any_length=longest is None,
    )


def longest_that_fits(need: Callable[[int], int], num_blocks: int) -> int | None:
    """The longest request whose ``need`` of blocks is at most ``num_blocks``, by binary search.

    0 if not even one position fits; None if there is no longest, for ``need`` grows no more.
    ``need`` must never fall as its length grows.
    """
    lengths = range(1, BEYOND)
    longest = bisect_right(lengths, num_blocks, key=need)
    return None if longest == len(lengths) else longest
