# mypy: disable-error-code="no-untyped-def, untyped-decorator, misc"
"""Attention over scattered blocks: each query reads its own context through its block table.

For a row with query head ``h``, which uses KV head ``h // (num_heads // num_kv_heads)``:

    out = sum over positions i < context_len of softmax_i(scale * q . k_i) * v_i
    k_i = k_cache[block_table[i // block_size], i % block_size, kv head]      v_i likewise

The positions come tile by tile, and nothing is gathered into a second cache: a tile's K and V live
in registers while they are used. One softmax over all tiles is kept by the online method (Milakov
and Gimelshein 2018; FlashAttention, Dao et al. 2022): a running maximum ``m_i``, a running
denominator ``l_i`` and a running output ``acc``, the last two rescaled when the maximum rises.

One kernel serves both uses. In a decode step every row is a request with a table of its own, so a
program has one row (``QUERIES`` = 1). In a prefill the rows are positions of one request, so a
program takes many of them and reads K and V once for all. What both share is the tile of query
rows, all of which need the same K and V: ``QUERIES`` rows times the query heads of one KV head.

A long context can be split among programs (``SPLIT``); ``reduce_kernel`` then joins the parts. How
large everything is, and why, stands in ``attention_launch``.
"""

import torch
import triton
import triton.language as tl

# What tl.max and tl.sum reduce with. Interpreted, tl.reduce with these costs a tenth of tl.max and
# tl.sum; compiled it is the same.
from triton.language.standard import _elementwise_max as larger
from triton.language.standard import _sum_combine as plus

LEAST = tl.constexpr(torch.finfo(torch.float32).min)


@triton.jit
def paged_attention_kernel(
    query, k_cache, v_cache, block_tables, context_lens, out, sums, weights, steps,
    num_rows, table_stride, split_len, weights_width,
    SCORE_SCALE: tl.constexpr,  # scale * log2(e), as exp2 is the hardware's exponential
    K_STRIDES: tl.constexpr, V_STRIDES: tl.constexpr,  # block, offset, kv head, dim
    NUM_HEADS: tl.constexpr, NUM_KV_HEADS: tl.constexpr, HEAD_DIM: tl.constexpr,
    BLOCK_SIZE: tl.constexpr, QUERIES: tl.constexpr,
    BATCH: tl.constexpr, BLOCK_M: tl.constexpr, TILE: tl.constexpr, BLOCK_D: tl.constexpr,
    SUMS: tl.constexpr,  # in so many parts a score is added up, each of BLOCK_D // SUMS products
    DOT: tl.constexpr, INDEX: tl.constexpr, SPLIT: tl.constexpr,
    WEIGHTS: tl.constexpr, ONE_TILE: tl.constexpr,  # nothing split, and a context fits one tile
    RECORD: tl.constexpr,  # steps: block ids, addresses, scores, maxima, denominators, accumulators
):  # fmt: skip
    """Attend for ``BATCH`` groups of query rows with one KV head each; 1 on a GPU.

    ``BLOCK_M`` is the rows of such a group padded to a power of two, ``BLOCK_D`` is ``HEAD_DIM``
    padded. Padding is masked in every load and store.
    """
    GROUP_SIZE: tl.constexpr = NUM_HEADS // NUM_KV_HEADS  # query heads that share a KV head
    first_group = tl.program_id(0).to(INDEX) * BATCH

    # The query rows: a group is QUERIES rows of the batch, in the query heads of one KV head.
    m = tl.arange(0, BATCH * BLOCK_M).to(INDEX)  # [BATCH * BLOCK_M], as all per query row
    if QUERIES == 1 and BLOCK_M == GROUP_SIZE:  # group after group is head after head of each row
        row_head = first_group.to(tl.int64) * GROUP_SIZE + m
        row = row_head // NUM_HEADS
        in_use = row < num_rows
    else:
        m_group, in_group = first_group + m // BLOCK_M, m % BLOCK_M
        row = m_group // NUM_KV_HEADS * QUERIES + in_group // GROUP_SIZE
        head = m_group % NUM_KV_HEADS * GROUP_SIZE + in_group % GROUP_SIZE
        row_head = row.to(tl.int64) * NUM_HEADS + head
        in_use = (row < num_rows) & (in_group < QUERIES * GROUP_SIZE)
    context_len = tl.load(context_lens + row, mask=in_use, other=0)

    dim = tl.arange(0, BLOCK_D).to(INDEX)  # [BLOCK_D]
    q_at = (row_head * HEAD_DIM)[:, None] + dim
    q_mask = in_use[:, None]  # [BATCH * BLOCK_M, 1], or a column for each dim
    if BLOCK_D != HEAD_DIM:
        q_mask &= dim < HEAD_DIM
    q = tl.load(query + q_at, mask=q_mask, other=0.0).to(DOT)  # [BATCH * BLOCK_M, BLOCK_D]

    # The keys: for each group TILE positions at a time, as far as its longest row sees.
    n = tl.arange(0, BATCH * TILE).to(INDEX)  # [BATCH * TILE], as all per key
    n_group, in_tile = first_group + n // TILE, n % TILE
    n_row, kv_head = n_group // NUM_KV_HEADS * QUERIES, n_group % NUM_KV_HEADS
    table = block_tables + n_row.to(tl.int64) * table_stride
    group_len = tl.reduce(tl.reshape(context_len, (BATCH, BLOCK_M)), 1, larger)  # [BATCH]
    end = tl.reduce(group_len, 0, larger)
    key_len = tl.reshape(tl.broadcast_to(group_len[:, None], (BATCH, TILE)), (BATCH * TILE,))
    tile = tl.arange(0, TILE).to(INDEX)  # [TILE]
    row_len = context_len[:, None]  # [BATCH * BLOCK_M, 1]

    # The maximum starts at the least number there is and not at -inf, for inf - inf is NaN.
    m_i = tl.full([BATCH * BLOCK_M], LEAST, tl.float32)
    l_i = tl.full([BATCH * BLOCK_M], 0.0, tl.float32)
    acc = tl.full([BATCH * BLOCK_M, BLOCK_D], 0.0, tl.float32)

    if RECORD:  # for those who want to look: where the running numbers begin
        first_step = row_head * (tl.cdiv(weights_width, TILE) + 1)
        tl.store(steps[3] + first_step, m_i, mask=in_use)
        tl.store(steps[4] + first_step, l_i, mask=in_use)
        tl.store(steps[5] + (first_step * HEAD_DIM)[:, None] + dim, acc, mask=q_mask)

    begin = 0
    if SPLIT:
        begin = tl.program_id(1) * split_len
        end = tl.minimum(end, begin + split_len)
    if WEIGHTS:
        weights_row = weights + (row_head * weights_width)[:, None]
    for start in range(begin, end, TILE):
        # The context length says how many positions count, the table where they are.
        n_position = start + in_tile
        stored = n_position < key_len
        block = tl.load(table + n_position // BLOCK_SIZE, mask=stored)
        block = block.to(tl.int64)  # block * stride passes 2**31 in a pool of 4 GiB
        offset = n_position % BLOCK_SIZE
        k_slot = block * K_STRIDES[0] + (offset * K_STRIDES[1] + kv_head * K_STRIDES[2])
        k_at = k_slot[:, None] + dim * K_STRIDES[3]  # [BATCH * TILE, BLOCK_D]
        v_at = k_at
        if V_STRIDES != K_STRIDES:
            v_slot = block * V_STRIDES[0] + (offset * V_STRIDES[1] + kv_head * V_STRIDES[2])
            v_at = v_slot[:, None] + dim * V_STRIDES[3]

        # Slots past the group's longest context are never loaded, neither K nor V: they may hold
        # NaN, and a weight of 0 does not help, for 0 * NaN is NaN.
        kv_mask = stored[:, None]
        if BLOCK_D != HEAD_DIM:
            kv_mask &= dim < HEAD_DIM
        k = tl.load(k_cache + k_at, mask=kv_mask, other=0.0).to(DOT)  # [BATCH * TILE, BLOCK_D]
        v = tl.load(v_cache + v_at, mask=kv_mask, other=0.0).to(DOT)

        # A row's scores with the TILE positions of its own group. Several groups are a batch of
        # small products, so nothing of one can reach another.
        if SUMS > 1:
            q_s = tl.reshape(q, (BATCH, BLOCK_M, SUMS, BLOCK_D // SUMS))
            q_s = tl.reshape(tl.permute(q_s, 0, 2, 1, 3), (BATCH * SUMS, BLOCK_M, BLOCK_D // SUMS))
            k_s = tl.reshape(k, (BATCH, TILE, SUMS, BLOCK_D // SUMS))
            k_s = tl.reshape(tl.permute(k_s, 0, 2, 3, 1), (BATCH * SUMS, BLOCK_D // SUMS, TILE))
            qk = tl.dot(q_s, k_s, input_precision="ieee")  # [BATCH * SUMS, BLOCK_M, TILE]
            qk = tl.reduce(tl.reshape(qk, (BATCH, SUMS, BLOCK_M, TILE)), 1, plus)
            qk = tl.reshape(qk, (BATCH * BLOCK_M, TILE))
        elif BATCH == 1:
            qk = tl.dot(q, tl.trans(k), input_precision="ieee")  # [BLOCK_M, TILE]
        else:
            k_t = tl.trans(tl.reshape(k, (BATCH, TILE, BLOCK_D)), 0, 2, 1)
            qk = tl.dot(tl.reshape(q, (BATCH, BLOCK_M, BLOCK_D)), k_t, input_precision="ieee")
            qk = tl.reshape(qk, (BATCH * BLOCK_M, TILE))
        position = start + tile
        seen = position < row_len  # [BATCH * BLOCK_M, TILE]: within the context, and causal
        qk = tl.where(seen, (qk * SCORE_SCALE).to(tl.float32), float("-inf"))

        # Online softmax: what was summed under the old maximum shrinks by alpha.
        m_new = tl.maximum(m_i, tl.reduce(qk, 1, larger))
        alpha = tl.exp2(m_i - m_new)  # [BATCH * BLOCK_M]
        p = tl.exp2(qk - m_new[:, None])  # 0 where qk is -inf
        l_i = l_i * alpha + tl.reduce(p, 1, plus)
        m_i = m_new

        if WEIGHTS:
            # The final maximum and denominator are known if this tile is all there is. Otherwise a
            # raw score has to do for now.
            stored_weight = qk
            if ONE_TILE:
                stored_weight = p / tl.maximum(l_i, 1.0)[:, None]
            tl.store(weights_row + position, stored_weight, mask=seen)

        p = p.to(DOT)
        if BATCH == 1:
            pv = tl.dot(p, v, input_precision="ieee")  # [BLOCK_M, BLOCK_D]
        else:
            v_b = tl.reshape(v, (BATCH, TILE, BLOCK_D))
            pv = tl.dot(tl.reshape(p, (BATCH, BLOCK_M, TILE)), v_b, input_precision="ieee")
            pv = tl.reshape(pv, (BATCH * BLOCK_M, BLOCK_D))
        acc = acc * alpha[:, None] + pv.to(tl.float32)

        if RECORD:  # what this tile found, and where the running numbers stand now
            keys_at = n_group.to(tl.int64) * weights_width + n_position
            tl.store(steps[0] + keys_at, block, mask=stored)
            tl.store(steps[1] + keys_at, k_slot, mask=stored)
            tl.store(steps[2] + (row_head * weights_width)[:, None] + position, qk, mask=seen)
            step = first_step + start // TILE + 1
            tl.store(steps[3] + step, m_i, mask=in_use)
            tl.store(steps[4] + step, l_i, mask=in_use)
            tl.store(steps[5] + (step * HEAD_DIM)[:, None] + dim, acc, mask=q_mask)

    if SPLIT:  # a part of the answer, as it stands: its sum, its maximum and its denominator
        split_row = tl.program_id(1).to(tl.int64) * num_rows * NUM_HEADS + row_head
        tl.store(out + (split_row * HEAD_DIM)[:, None] + dim, acc, mask=q_mask)
        tl.store(sums + 2 * split_row, m_i, mask=in_use)
        tl.store(sums + 2 * split_row + 1, l_i, mask=in_use)
    else:
        # The largest score counted 1, so less means that nothing was seen: zeros, not 0 / 0.
        l_i = tl.maximum(l_i, 1.0)
        tl.store(out + q_at, acc / l_i[:, None], mask=q_mask)

    if WEIGHTS and not SPLIT and not ONE_TILE:  # now they are: a score becomes its weight
        tl.debug_barrier()  # scores stored by other threads of the program must be visible
        for start in range(begin, end, TILE):
            position = start + tile
            seen = position < row_len
            qk = tl.load(weights_row + position, mask=seen, other=float("-inf"))
            p = tl.exp2(qk - m_i[:, None]) / l_i[:, None]
            tl.store(weights_row + position, p, mask=seen)
