"""How the attention kernel is started: what one program does, and how many there are.

The kernel is one; a decode step and a prefill differ only in what is decided here, and so do a GPU
and the interpreter:

=============  =======================================  ========================================
choice         on a GPU                                 interpreted
=============  =======================================  ========================================
groups         one a program, as many programs as       as many a program as fit a tile, since
               there are                                an operation costs the same on any size
rows           16 at least (tensor cores want that);    decode 1 request; prefill up to 64
               decode 1 request, prefill 64 rows        positions
tile           64 positions or 16 KiB of K, whichever   the longest context, up to 256
               is less, whatever the block size; half
               in a prefill before Hopper
splits         so many that all multiprocessors work    1
=============  =======================================  ========================================
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl

from kernels.attention_kernel import paged_attention_kernel
from kernels.launch import INDEX, INTERPRETED, INTERPRETED_TILE, launch, next_power_of_2
from kernels.reduce_kernel import paged_attention_reduce_kernel

PREFILL_ROWS = 64  # query rows of a prefill's tile, on a GPU
PREFILL_QUERIES = 64  # positions of a prefill's tile, interpreted
TILE_POSITIONS = 64  # of a tile, at most, on a GPU
TILE_BYTES = 16 * 1024  # of K in a tile, at most, on a GPU
HOPPER = (9, 0)  # compute capability; before it a prefill's products take twice the registers
LONG_SUM = 128  # products of a score; interpreted, more are added up in two sums, to round less
SMALL_HEAD = 16  # channels; of fewer a decode step's products are fp64 whatever the cache holds
SPLIT_POSITIONS = 256  # a split has at least so many, or it is not worth its second step
PROGRAMS_PER_MULTIPROCESSOR = 4
REDUCE_WARP = 2048  # numbers of the splits' outputs in a warp at once: 64 registers a thread
REDUCE_WARPS = 8  # at most; with head_dim 128 these read 128 splits at once
REDUCE_TILE = 256  # scores that become weights in one step of the reduce kernel


def paged_attention(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_tables: torch.Tensor,
    context_lens: torch.Tensor,
    longest: int,
    scale: float,
    weights: torch.Tensor | None,
    num_splits: int | None = None,
) -> torch.Tensor:
    """Attend with rows that have a table each; see ``kernels.paged_attention``.

    ``weights`` ``[rows, heads, longest]`` fp32, all zero, is filled if given. ``num_splits`` is
    chosen here unless given.
    """
    if block_tables.stride(1) != 1:
        block_tables = block_tables.contiguous()
    rows, num_kv_heads = len(query), k_cache.shape[2]
    if num_splits is None:
        num_splits = _num_splits(rows * num_kv_heads, longest, query.device)
    tables = Tables(block_tables, block_tables.stride(0), context_lens.contiguous(), longest)
    return _attend(query, k_cache, v_cache, tables, 1, scale, weights, num_splits)


def paged_prefill(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_table: torch.Tensor,
    context_len: int,
    scale: float,
    weights: torch.Tensor | None,
) -> torch.Tensor:
    """Attend with the last positions of one request; see ``kernels.paged_prefill``.

    ``weights`` ``[tokens, heads, context_len]`` fp32, all zero, is filled if given.
    """
    tokens, num_heads, _ = query.shape
    first = context_len - len(query) + 1
    context_lens = torch.arange(
        first, context_len + 1, dtype=torch.int32, device=query.device
    )  # [tokens]: causal, so a position sees itself and what is before it
    queries = PREFILL_QUERIES
    if not INTERPRETED:
        queries = max(PREFILL_ROWS // next_power_of_2(num_heads // k_cache.shape[2]), 1)
    queries = min(queries, next_power_of_2(tokens))
    tables = Tables(block_table.contiguous(), 0, context_lens, context_len)
    return _attend(query, k_cache, v_cache, tables, queries, scale, weights, 1)


def record_attention(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_tables: torch.Tensor,
    context_lens: torch.Tensor,
    longest: int,
    scale: float,
    tile: int,
    steps: tuple[torch.Tensor, ...],
) -> tuple[torch.Tensor, dict[str, Any]]:
    """Attend as a decode step does, a program for each row and KV head, and record ``steps``.

    Returns the output, and the constexprs that the kernel ran with, by name.
    """
    tables = Tables(
        block_tables.contiguous(), block_tables.shape[1], context_lens.contiguous(), longest
    )
    query = query.contiguous()
    constexprs = _constexprs(query, k_cache, v_cache, tables, 1, scale)
    constexprs |= {"BATCH": 1, "TILE": tile, "RECORD": True}
    return _start(query, k_cache, v_cache, tables, constexprs, steps=steps), constexprs


@dataclass(frozen=True, slots=True)
class Tables:
    """Where the rows' contexts are: ``block_tables`` with ``stride`` from row to row, 0 if shared.

    ``context_lens`` ``[rows]`` int32, of which ``longest`` is the largest.
    """

    block_tables: torch.Tensor
    stride: int
    context_lens: torch.Tensor
    longest: int


def _attend(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    tables: Tables,
    queries: int,
    scale: float,
    weights: torch.Tensor | None,
    num_splits: int,
) -> torch.Tensor:
    """Start the kernel, and the reduce kernel where contexts are split."""
    query = query.contiguous()  # small, and only read; the caches stay as they are
    constexprs = _constexprs(query, k_cache, v_cache, tables, queries, scale)
    if weights is not None:
        is_one_tile = num_splits == 1 and tables.longest <= constexprs["TILE"]
        constexprs |= {"WEIGHTS": True, "ONE_TILE": is_one_tile}
    if num_splits == 1:
        return _start(query, k_cache, v_cache, tables, constexprs, weights=weights)
    constexprs["SPLIT"] = True
    parts = query.new_empty((num_splits, *query.shape), dtype=torch.float32)
    sums = query.new_empty((num_splits, *query.shape[:2], 2), dtype=torch.float32)
    _start(query, k_cache, v_cache, tables, constexprs, parts, sums, weights=weights)
    return _reduce(parts, sums, tables, query.dtype, weights)


def _start(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    tables: Tables,
    constexprs: dict[str, Any],
    parts: torch.Tensor | None = None,
    sums: torch.Tensor | None = None,
    *,
    weights: torch.Tensor | None = None,
    steps: tuple[torch.Tensor, ...] | None = None,
) -> torch.Tensor:
    """Start the attention kernel alone; return what it attended, [rows, heads, head_dim].

    With ``parts`` [splits, rows, heads, head_dim] and ``sums`` [splits, rows, heads, 2 (maximum,
    denominator)] fp32 these are filled instead. With ``steps`` the kernel records in these tensors
    what it found, tile by tile; see ``kernels.attention_steps``.
    """
    out = torch.empty_like(query, dtype=_stored_type(query.dtype)) if parts is None else parts
    num_splits = 1 if parts is None else len(parts)
    num_groups = triton.cdiv(len(query), constexprs["QUERIES"]) * k_cache.shape[2]
    tile = constexprs["TILE"]
    split_len = triton.cdiv(triton.cdiv(tables.longest, num_splits), tile) * tile
    launch(
        paged_attention_kernel,
        (triton.cdiv(num_groups, constexprs["BATCH"]), num_splits),
        query, k_cache, v_cache, tables.block_tables, tables.context_lens,
        # A pointer is due also where none is touched.
        out, out if sums is None else sums, out if weights is None else weights, steps,
        len(query), tables.stride, split_len, tables.longest,
        **constexprs,
    )  # fmt: skip
    return out.to(query.dtype) if parts is None else out


def _constexprs(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    tables: Tables,
    queries: int,
    scale: float,
) -> dict[str, Any]:
    """What the kernel is compiled for: neither split, nor with weights, nor recorded so far."""
    rows, num_heads, head_dim = query.shape
    _, block_size, num_kv_heads, _ = k_cache.shape
    group_rows = queries * (num_heads // num_kv_heads)
    num_groups = triton.cdiv(rows, queries) * num_kv_heads
    return {
        "SCORE_SCALE": scale * math.log2(math.e),
        "K_STRIDES": k_cache.stride(),
        "V_STRIDES": v_cache.stride(),
        "NUM_HEADS": num_heads,
        "NUM_KV_HEADS": num_kv_heads,
        "HEAD_DIM": head_dim,
        "BLOCK_SIZE": block_size,
        "QUERIES": queries,
        **_tile_sizes(query, num_groups, group_rows, tables.longest, is_prefill=queries > 1),
        "DOT": _dot_type(query.dtype, head_dim, queries),
        "SUMS": 2 if INTERPRETED and head_dim > LONG_SUM else 1,
        "INDEX": _index_type(k_cache, v_cache),
        "SPLIT": False,
        "WEIGHTS": False,
        "ONE_TILE": False,
        "RECORD": False,
    }


def _reduce(
    parts: torch.Tensor,
    sums: torch.Tensor,
    tables: Tables,
    dtype: torch.dtype,
    weights: torch.Tensor | None,
) -> torch.Tensor:
    """Start the reduce kernel: ``parts`` [splits, rows, heads, head_dim] become one.

    ``weights`` held scores so far. Returns the output, [rows, heads, head_dim] of ``dtype``.
    """
    num_splits, rows, num_heads, head_dim = parts.shape
    out = parts.new_empty(parts.shape[1:], dtype=_stored_type(dtype))  # [rows, heads, head_dim]
    splits, block_d = next_power_of_2(num_splits), next_power_of_2(head_dim)
    # Many splits mean few rows and heads, so few programs: each had better read with more warps.
    chunk = min(splits, max(REDUCE_WARPS * REDUCE_WARP // block_d, 1))
    num_warps = min(max(chunk * block_d // REDUCE_WARP, 1), REDUCE_WARPS)
    launch(
        paged_attention_reduce_kernel,
        (rows * num_heads,),
        parts, sums, tables.context_lens, out, out if weights is None else weights,
        rows * num_heads, tables.longest,
        NUM_HEADS=num_heads, HEAD_DIM=head_dim, NUM_SPLITS=num_splits,
        SPLITS=splits, CHUNK=chunk, BLOCK_D=block_d, TILE=REDUCE_TILE,
        WEIGHTS=weights is not None, num_warps=num_warps,
    )  # fmt: skip
    return out.to(dtype)


def _tile_sizes(
    query: torch.Tensor, num_groups: int, group_rows: int, longest: int, *, is_prefill: bool
) -> dict[str, int]:
    """How much one program does; ``group_rows`` is the query rows of a group before padding."""
    block_m, block_d = next_power_of_2(group_rows), next_power_of_2(query.shape[-1])
    if INTERPRETED:
        tile = min(next_power_of_2(longest), 256)
        room = max(INTERPRETED_TILE // (tile * max(block_d, block_m)), 1)
        batch = min(next_power_of_2(num_groups), room)
        return {"BATCH": batch, "BLOCK_M": block_m, "TILE": tile, "BLOCK_D": block_d}
    block_m, block_d = max(block_m, 16), max(block_d, 16)
    tile = min(TILE_BYTES // (block_d * query.itemsize), TILE_POSITIONS)
    if is_prefill and torch.cuda.get_device_capability(query.device) < HOPPER:
        tile //= 2
    return {"BATCH": 1, "BLOCK_M": block_m, "TILE": max(tile, 16), "BLOCK_D": block_d}


def _num_splits(num_groups: int, longest: int, device: torch.device) -> int:
    """As many splits as keep the GPU busy, none of them short; from host numbers alone."""
    if INTERPRETED or device.type != "cuda":
        return 1
    wanted = triton.cdiv(PROGRAMS_PER_MULTIPROCESSOR * _multiprocessors(device), num_groups)
    return int(max(min(wanted, triton.cdiv(longest, SPLIT_POSITIONS)), 1))


@cache
def _multiprocessors(device: torch.device) -> int:
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def _stored_type(dtype: torch.dtype) -> torch.dtype:
    """What a kernel stores, for a result of ``dtype``.

    The interpreter holds bf16 as integers and truncates what it rounds to them; torch rounds.
    """
    return torch.float32 if INTERPRETED and dtype == torch.bfloat16 else dtype


def _dot_type(dtype: torch.dtype, head_dim: int, queries: int) -> tl.dtype:
    """The type of the two products' inputs; over the tiles their sums are fp32 in any case.

    Where there are few channels, all of a row's may come out near zero, and then every rounding of
    a score or a weight shows. Heads so small are no model's today, so a decode step may cost more.
    """
    if queries == 1 and head_dim < SMALL_HEAD:
        return tl.float64
    if dtype == torch.float16:
        return tl.float16
    if dtype == torch.bfloat16 and not INTERPRETED:  # interpreted, it would multiply bit patterns
        return tl.bfloat16
    return tl.float32


def _index_type(*caches: torch.Tensor) -> tl.dtype:
    """The type of addresses within a block: small, unless the layout spreads a block far apart.

    A block's own address is int64 in any case.
    """
    furthest = max(
        sum((size - 1) * stride for size, stride in zip(x.shape[1:], x.stride()[1:], strict=True))
        for x in caches
    )
    return INDEX if furthest < 2**31 else tl.int64
