"""The operations in plain torch, block by block: the same algorithms without Triton.

For machines where Triton does not exist (macOS, Windows), and for reading: each function says in a
few lines what its kernel does. It follows the block table like the kernel does and keeps the same
online softmax, with one block as its tile. Arguments are taken as checked.
"""

import torch


def write_slots(
    k: torch.Tensor,
    v: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
) -> None:
    """``cache[slot // block_size, slot % block_size] = row`` for every row with a slot.

    ``k``, ``v`` ``[tokens, num_kv_heads, head_dim]``; caches ``[num_blocks, block_size,
    num_kv_heads, head_dim]``; ``slot_mapping`` ``[tokens]`` int64.
    """
    has_place = slot_mapping >= 0
    slots = slot_mapping[has_place]
    block_size = k_cache.shape[1]
    k_cache[slots // block_size, slots % block_size] = k[has_place]
    v_cache[slots // block_size, slots % block_size] = v[has_place]


def copy_blocks(k_cache: torch.Tensor, v_cache: torch.Tensor, pairs: torch.Tensor) -> None:
    """``cache[destination] = cache[source]`` for every pair, in each layer if there are layers.

    Caches ``[(num_layers,) num_blocks, block_size, num_kv_heads, head_dim]``; ``pairs`` ``[n, 2]``
    int64.
    """
    source, destination = pairs.unbind(1)
    for cache in (k_cache, v_cache):
        blocks = cache.movedim(-4, 0)  # [num_blocks, (layers,) block_size, num_kv_heads, head_dim]
        blocks[destination] = blocks[source]


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
    """Online softmax over the blocks of each table.

    ``query`` ``[rows, num_heads, head_dim]``; caches as above; ``block_tables`` ``[rows,
    max_blocks]`` int32; ``context_lens`` ``[rows]`` int32, of which ``longest`` is the largest.
    ``weights`` ``[rows, num_heads, longest]`` fp32, all zero, is filled if given.
    """
    num_rows, num_heads, head_dim = query.shape
    block_size, num_kv_heads = k_cache.shape[1:3]
    group_size = num_heads // num_kv_heads
    q = query.float().view(num_rows, num_kv_heads, group_size, head_dim) * scale
    m_i = q.new_full((num_rows, num_kv_heads, group_size, 1), -torch.inf)
    l_i = torch.zeros_like(m_i)
    acc = torch.zeros_like(q)  # [rows, num_kv_heads, group_size, head_dim]
    scores = []

    for start in range(0, longest, block_size):
        positions = torch.arange(start, start + block_size, device=query.device)
        in_context = positions < context_lens[:, None]  # [rows, block_size]
        # Rows that ended before this block read block 0 instead and mask all of it.
        block = block_tables[:, start // block_size].where(in_context[:, 0], 0)
        keep = in_context[:, :, None, None]
        k = k_cache[block].float().where(keep, 0.0)  # [rows, block_size, num_kv_heads, head_dim]
        v = v_cache[block].float().where(keep, 0.0)

        qk = torch.einsum("rhgd,rthd->rhgt", q, k)
        qk = qk.where(in_context[:, None, None, :], -torch.inf)
        scores.append(qk)
        m_new = torch.maximum(m_i, qk.amax(-1, keepdim=True))
        shift = m_new.where(m_new != -torch.inf, 0.0)  # where nothing was seen: no inf - inf
        alpha = torch.exp(m_i - shift)
        p = torch.exp(qk - shift)
        l_i = l_i * alpha + p.sum(-1, keepdim=True)
        acc = acc * alpha + torch.einsum("rhgt,rthd->rhgd", p, v)
        m_i = m_new

    m_i = m_i.where(l_i != 0.0, 0.0)
    l_i = l_i.where(l_i != 0.0, 1.0)  # an empty context: zeros, not 0 / 0
    if weights is not None:
        p = torch.exp(torch.cat(scores, -1)[..., :longest] - m_i) / l_i
        weights.copy_(p.reshape(num_rows, num_heads, longest))
    return (acc / l_i).reshape(query.shape).to(query.dtype)


def paged_prefill(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_table: torch.Tensor,
    context_len: int,
    scale: float,
    weights: torch.Tensor | None,
) -> torch.Tensor:
    """The same for the last positions of one request: rows that share ``block_table``.

    ``query`` ``[tokens, num_heads, head_dim]``; ``block_table`` ``[max_blocks]`` int32;
    ``weights`` ``[tokens, num_heads, context_len]`` fp32, all zero, is filled if given.
    """
    tokens = len(query)
    context_lens = torch.arange(context_len - tokens + 1, context_len + 1, device=query.device)
    tables = block_table.expand(tokens, -1)
    return paged_attention(
        query, k_cache, v_cache, tables, context_lens, context_len, scale, weights
    )
