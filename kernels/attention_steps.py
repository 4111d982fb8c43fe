"""What the attention kernel did on its way: recorded by the kernel itself, for those who look on.

The same kernel, with one more constexpr: at the end of each tile it stores what it found there and
where its running numbers stand. Nothing is computed again here. Arguments as for
``kernels.paged_attention``, plus the tile.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch

from kernels import checks
from kernels.backend import CHOICE

if CHOICE.has_triton:
    from kernels.attention_launch import record_attention

LEAST_TILE_COMPILED = 16  # tensor cores multiply nothing smaller


@dataclass(frozen=True, slots=True, eq=False)
class AttentionSteps:
    """Everything the programs of one launch recorded; a program is one row and KV head.

    A row has ``context_lens`` positions, and ``tile`` of them are one step. Per row and KV head, by
    position, -1 past the context: ``block_ids`` and ``addresses`` (in elements, where the key's
    first number lies in ``k_cache``), both ``[rows, num_kv_heads, longest]`` int64. Per row and
    query head: ``scores`` ``[rows, num_heads, longest]`` fp32, scaled for base 2
    (``q . k * scale * log2(e)``), -inf past the context; ``maxima`` and ``denominators`` ``[rows,
    num_heads, 1 + tiles]`` and ``accumulators`` ``[rows, num_heads, 1 + tiles, head_dim]`` fp32 as
    they are at first and after each tile, NaN for a tile that the program did not reach. ``out``
    ``[rows, num_heads, head_dim]`` is what the launch returned. ``constexprs`` are those that the
    kernel ran with: they decide which branches it took.
    """

    tile: int
    context_lens: tuple[int, ...]
    constexprs: Mapping[str, object]
    block_ids: torch.Tensor
    addresses: torch.Tensor
    scores: torch.Tensor
    maxima: torch.Tensor
    denominators: torch.Tensor
    accumulators: torch.Tensor
    out: torch.Tensor


def recordable_tiles() -> tuple[int, ...]:
    """Sizes of a tile that suit a short context, the least first; none without Triton."""
    if not CHOICE.has_triton:
        return ()
    least = 2 if CHOICE.interpreted else LEAST_TILE_COMPILED
    return tuple(least << doubled for doubled in range(4))


@torch.no_grad()
def attention_steps(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_tables: torch.Tensor,
    context_lens: torch.Tensor,
    *,
    tile: int,
    scale: float | None = None,
) -> AttentionSteps:
    """Attend as ``kernels.paged_attention`` does and return every step on the way.

    Raises ``ValueError`` for what ``kernels.paged_attention`` refuses, for a ``tile`` that is no
    power of 2 (of at least 16 where the kernel is compiled), if all contexts are empty, and where
    the process runs without Triton.
    """
    longest = checks.check_paged_attention(
        query, k_cache, v_cache, block_tables, context_lens, scale
    )
    _check_tile(tile)
    if longest == 0:
        raise ValueError("context_lens are all 0; a kernel that reads nothing takes no steps")
    if not CHOICE.has_triton:
        raise ValueError("this process runs without Triton, so there is no kernel to record")
    rows, num_heads, head_dim = query.shape
    num_kv_heads, num_steps = k_cache.shape[2], 1 + math.ceil(longest / tile)
    block_ids = context_lens.new_full((rows, num_kv_heads, longest), -1, dtype=torch.int64)
    addresses = torch.full_like(block_ids, -1)  # [rows, num_kv_heads, longest]
    numbers = query.new_empty(0, dtype=torch.float32)
    scores = numbers.new_full((rows, num_heads, longest), -torch.inf)
    maxima = numbers.new_full((rows, num_heads, num_steps), torch.nan)
    denominators = torch.full_like(maxima, torch.nan)  # [rows, num_heads, 1 + tiles]
    accumulators = numbers.new_full((rows, num_heads, num_steps, head_dim), torch.nan)
    out, constexprs = record_attention(
        query,
        k_cache,
        v_cache,
        block_tables,
        context_lens,
        longest,
        checks.scale_or_default(scale, head_dim),
        tile,
        (block_ids, addresses, scores, maxima, denominators, accumulators),
    )
    return AttentionSteps(
        tile=tile,
        context_lens=tuple(context_lens.tolist()),
        constexprs=MappingProxyType(constexprs),
        block_ids=block_ids,
        addresses=addresses,
        scores=scores,
        maxima=maxima,
        denominators=denominators,
        accumulators=accumulators,
        out=out,
    )


def _check_tile(tile: int) -> None:
    least = 1 if CHOICE.interpreted else LEAST_TILE_COMPILED
    is_whole = isinstance(tile, int) and not isinstance(tile, bool)
    if not is_whole or tile < least or tile.bit_count() != 1:
        raise ValueError(f"tile is {tile!r}; it must be a power of 2, at least {least}")
