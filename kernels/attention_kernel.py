# mypy: disable-error-code="no-untyped-def, untyped-decorator, misc"
"""Attention over scattered blocks: each query reads its own context through its block table.

For a row with query head ``h``, which uses KV head ``h // (num_heads // num_kv_heads)``:

    out = sum over positions i < context_len of softmax_i(scale * q . k_i) * v_i
    k_i = k_cache[block_table[i // block_size], i % block_size, kv head]      v_i likewise

The positions come tile by tile, and nothing is gathered into a second cache: a tile's K and V live
in registers while they are used. One softmax over all tiles is kept by the online method (Milakov
and Gimelshein 2018; FlashAttention, Dao et al. 2022): a running maximum ``m_i``, a running
denominator ``l_i`` and a running output ``acc``, the last two rescaled when the maximum rises.

Arguments are taken as checked. Left for later: several programs to one long context, and a GPU
launch of its own for prompts (here each of a prompt's positions is a row like any other).
"""

import math
from collections.abc import Iterator

import torch
import triton
import triton.language as tl

# What tl.max and tl.sum reduce with. Interpreted, tl.reduce with these costs a tenth of tl.max and
# tl.sum; compiled it is the same.
from triton.language.standard import _elementwise_max as larger
from triton.language.standard import _sum_combine as plus

from kernels.launch import INDEX, INTERPRETED, INTERPRETED_TILE, launch, next_power_of_2


@triton.jit
def paged_attention_kernel(
    query, k_cache, v_cache, block_tables, table_lens, context_lens, out, weights,
    num_tables, num_rows, table_stride, weights_width,
    SCORE_SCALE: tl.constexpr,  # scale * log2(e), as exp2 is the hardware's exponential
    K_STRIDES: tl.constexpr, V_STRIDES: tl.constexpr,  # block, offset, kv head, dim
    NUM_HEADS: tl.constexpr, NUM_KV_HEADS: tl.constexpr, HEAD_DIM: tl.constexpr,
    BLOCK_SIZE: tl.constexpr, QUERIES: tl.constexpr,  # rows that share a table
    PAIRS: tl.constexpr, LANES: tl.constexpr, TILE: tl.constexpr, DIM: tl.constexpr,
    DOT: tl.constexpr, INDEX: tl.constexpr, WEIGHTS: tl.constexpr,
):  # fmt: skip
    """Attend for ``PAIRS`` pairs of a table and a KV head, ``TILE`` positions at a time."""
    GROUP_SIZE: tl.constexpr = NUM_HEADS // NUM_KV_HEADS  # query heads that share a KV head
    first_pair = tl.program_id(0).to(INDEX) * PAIRS

    # A pair, one table and one KV head, names K and V that are read once for all who need them.
    # Those are its lanes: the query heads of that KV head in each row with that table. All axes
    # are padded to powers of two, and what is padding is masked in every load and store.
    lane = tl.arange(0, PAIRS * LANES).to(INDEX)
    pair, lane = first_pair + lane // LANES, lane % LANES
    row = pair // NUM_KV_HEADS * QUERIES + lane // GROUP_SIZE
    head = row.to(tl.int64) * NUM_HEADS + pair % NUM_KV_HEADS * GROUP_SIZE + lane % GROUP_SIZE
    in_use = (row < num_rows) & (lane < QUERIES * GROUP_SIZE)
    context_len = tl.load(context_lens + row, mask=in_use, other=0)[:, None]  # per lane

    dim = tl.arange(0, DIM).to(INDEX)
    in_dim = dim < HEAD_DIM
    q_at = (head * HEAD_DIM)[:, None] + dim
    has_q = in_use[:, None] & in_dim
    q = tl.load(query + q_at, mask=has_q, other=0.0).to(DOT)  # [PAIRS * LANES, DIM]

    # K and V come as columns: for each pair the next TILE positions of its table.
    column = tl.arange(0, PAIRS * TILE).to(INDEX)
    pair = first_pair + column // TILE
    table, kv_head = (pair // NUM_KV_HEADS).to(tl.int64), pair % NUM_KV_HEADS
    table_len = tl.load(table_lens + table, mask=table < num_tables, other=0)  # its longest context
    table = block_tables + table * table_stride

    # A maximum that starts finite keeps exp2(score - m_i) free of inf - inf: a lane that sees no
    # position at all ends with l_i = 0, not NaN.
    m_i = tl.full([PAIRS * LANES], -1.0e30, tl.float32)
    l_i = tl.full([PAIRS * LANES], 0.0, tl.float32)
    acc = tl.full([PAIRS * LANES, DIM], 0.0, tl.float32)

    for start in range(0, tl.reduce(table_len, 0, larger), TILE):
        # The context length says how many positions count, the table where they are.
        position = start + column % TILE
        stored = position < table_len
        block = tl.load(table + position // BLOCK_SIZE, mask=stored, other=0)
        block = block.to(tl.int64)  # block * stride passes 2**31 in a pool of 4 GiB
        offset = position % BLOCK_SIZE
        k_at = block * K_STRIDES[0] + offset * K_STRIDES[1] + kv_head * K_STRIDES[2]
        k_at = k_at[:, None] + dim * K_STRIDES[3]
        v_at = k_at
        if V_STRIDES != K_STRIDES:
            v_at = block * V_STRIDES[0] + offset * V_STRIDES[1] + kv_head * V_STRIDES[2]
            v_at = v_at[:, None] + dim * V_STRIDES[3]

        # Slots past the longest context are never loaded, neither K nor V: they may hold NaN, and a
        # weight of 0 does not help, for 0 * NaN is NaN.
        stored = stored[:, None] & in_dim
        k = tl.load(k_cache + k_at, mask=stored, other=0.0).to(DOT)  # [PAIRS * TILE, DIM]
        v = tl.load(v_cache + v_at, mask=stored, other=0.0).to(DOT)

        # qk is [PAIRS * LANES, TILE]: a lane's scores with the TILE positions of its own pair.
        # Several pairs are a batch of small products, so nothing of one can reach another.
        if PAIRS == 1:
            qk = tl.dot(q, tl.trans(k), input_precision="ieee")
        else:
            k = tl.trans(tl.reshape(k, (PAIRS, TILE, DIM)), 0, 2, 1)
            qk = tl.dot(tl.reshape(q, (PAIRS, LANES, DIM)), k, input_precision="ieee")
            qk = tl.reshape(qk, (PAIRS * LANES, TILE))
        position = start + tl.arange(0, TILE)
        seen = position < context_len
        qk = tl.where(seen, qk * SCORE_SCALE, float("-inf"))

        # Online softmax: what was summed under the old maximum shrinks by alpha.
        m_new = tl.maximum(m_i, tl.reduce(qk, 1, larger))
        alpha = tl.exp2(m_i - m_new)
        p = tl.exp2(qk - m_new[:, None])  # 0 where qk is -inf
        l_i = l_i * alpha + tl.reduce(p, 1, plus)
        m_i = m_new

        p = p.to(DOT)
        if PAIRS == 1:
            pv = tl.dot(p, v, input_precision="ieee")
        else:
            v = tl.reshape(v, (PAIRS, TILE, DIM))
            pv = tl.dot(tl.reshape(p, (PAIRS, LANES, TILE)), v, input_precision="ieee")
            pv = tl.reshape(pv, (PAIRS * LANES, DIM))
        acc = acc * alpha[:, None] + pv

        if WEIGHTS:  # raw scores for now: the final maximum and denominator are not known yet
            tl.store(weights + (head * weights_width)[:, None] + position, qk, mask=seen)

    l_i = tl.where(l_i == 0.0, 1.0, l_i)[:, None]  # an empty context: zeros, not 0 / 0
    tl.store(out + q_at, acc / l_i, mask=has_q)

    if WEIGHTS:  # now they are: a score becomes its weight
        tl.debug_barrier()  # scores stored by other threads of the program must be visible
        for start in range(0, tl.reduce(table_len, 0, larger), TILE):
            position = start + tl.arange(0, TILE)
            seen = position < context_len
            at = weights + (head * weights_width)[:, None] + position
            qk = tl.load(at, mask=seen, other=float("-inf"))
            tl.store(at, tl.exp2(qk - m_i[:, None]) / l_i, mask=seen)


def paged_attention(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_tables: torch.Tensor,
    context_lens: torch.Tensor,
    longest: int,
    scale: float,
    weights: torch.Tensor | None,
) -> torch.Tensor:
    """Launch; ``weights`` ``[rows, heads, longest]`` fp32, all zero, is filled if given."""
    # Small inputs that are only read are laid out for the kernel; the caches stay as they are.
    query, context_lens = query.contiguous(), context_lens.contiguous()
    if block_tables.stride(1) != 1:
        block_tables = block_tables.contiguous()
    # The interpreter holds bf16 as integers and truncates what it rounds to them; torch rounds.
    dtype = torch.float32 if INTERPRETED and query.dtype == torch.bfloat16 else query.dtype
    out = torch.empty_like(query, dtype=dtype)  # [rows, heads, head_dim]
    for rows, queries in _launches(block_tables, context_lens, k_cache.shape[1]):
        _launch(
            query[rows],
            k_cache,
            v_cache,
            block_tables[rows],
            context_lens[rows],
            out[rows],
            None if weights is None else weights[rows],
            longest,
            scale,
            queries,
        )
    return out.to(query.dtype)


def _launches(
    block_tables: torch.Tensor, context_lens: torch.Tensor, block_size: int
) -> Iterator[tuple[slice, int]]:
    """Which rows go into one launch, and how many of them at a time share a table.

    A GPU takes all rows at once, each with its own table. The interpreter's time grows with the
    numbers loaded, so where a few tables serve many rows, as they do when a prompt's positions
    attend, each run of rows is a launch that loads the K and V of its table once. In a run every
    row's table is the beginning of the next row's, so the last row's table serves them all.
    """
    num_rows = len(block_tables)
    if INTERPRETED:
        logical = torch.arange(block_tables.shape[1], device=context_lens.device)
        unused = logical * block_size >= context_lens[:-1, None]  # [rows - 1, max_blocks]
        continues = ((block_tables[1:] == block_tables[:-1]) | unused).all(1)
        continues &= context_lens[1:] >= context_lens[:-1]  # [rows - 1], of the row before
        starts = [0, *((~continues).nonzero()[:, 0] + 1).tolist()]
        if len(starts) * 8 <= num_rows:
            for start, stop in zip(starts, [*starts[1:], num_rows], strict=True):
                yield slice(start, stop), min(stop - start, 64)
            return
    yield slice(0, num_rows), 1


def _launch(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_tables: torch.Tensor,
    context_lens: torch.Tensor,
    out: torch.Tensor,
    weights: torch.Tensor | None,
    longest: int,
    scale: float,
    queries: int,
) -> None:
    """Start the kernel for rows of which ``queries`` at a time share the last one's table."""
    num_rows, num_heads, head_dim = query.shape
    _, block_size, num_kv_heads, _ = k_cache.shape
    table_lens = context_lens
    if queries > 1:
        last = torch.arange(queries, num_rows + queries, queries, device=query.device)
        last = last.clamp(max=num_rows) - 1
        block_tables, table_lens = block_tables[last], context_lens[last]
    num_pairs = len(block_tables) * num_kv_heads
    tile_sizes = _tile_sizes(query, num_pairs, queries * (num_heads // num_kv_heads), longest)
    launch(
        paged_attention_kernel,
        (triton.cdiv(num_pairs, tile_sizes["PAIRS"]),),
        query, k_cache, v_cache, block_tables, table_lens, context_lens, out,
        out if weights is None else weights,  # never touched then, but a pointer is due
        len(block_tables), num_rows, block_tables.stride(0), longest,
        SCORE_SCALE=scale * math.log2(math.e),
        K_STRIDES=k_cache.stride(), V_STRIDES=v_cache.stride(),
        NUM_HEADS=num_heads, NUM_KV_HEADS=num_kv_heads, HEAD_DIM=head_dim,
        BLOCK_SIZE=block_size, QUERIES=queries, **tile_sizes,
        DOT=_dot_type(query.dtype), INDEX=INDEX, WEIGHTS=weights is not None,
    )  # fmt: skip


def _tile_sizes(query: torch.Tensor, num_pairs: int, lanes: int, longest: int) -> dict[str, int]:
    """How much one program does; ``lanes`` is how many it has per pair before padding."""
    lanes, dim = next_power_of_2(lanes), next_power_of_2(query.shape[-1])
    if INTERPRETED:
        # As few programs with as few rounds as possible: a tile reaches over the longest context,
        # within reason, and over as many pairs as fit.
        tile = min(next_power_of_2(longest), 256)
        room = max(INTERPRETED_TILE // (tile * max(dim, lanes)), 1)
        pairs = min(next_power_of_2(num_pairs), room)
        return {"PAIRS": pairs, "LANES": lanes, "TILE": tile, "DIM": dim}
    # One pair a program, as many programs as there are. Tensor cores want 16 lanes and 16 dims at
    # least. A tile of K is 64 positions or 16 KiB, whichever is less, whatever the block size:
    # small blocks fill it as well as large ones.
    lanes, dim = max(lanes, 16), max(dim, 16)
    tile = min(max(2**14 // (dim * query.itemsize), 16), 64)
    return {"PAIRS": 1, "LANES": lanes, "TILE": tile, "DIM": dim}


def _dot_type(dtype: torch.dtype) -> tl.dtype:
    """The type of the two products' inputs; their sums are fp32 in any case."""
    if dtype == torch.float16:
        return tl.float16
    if dtype == torch.bfloat16 and not INTERPRETED:  # interpreted, it would multiply bit patterns
        return tl.bfloat16
    return tl.float32
