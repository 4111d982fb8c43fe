"""Other ways to the same answer: torch's attention on KV that is contiguous already or is gathered
first, FlexAttention with a paged mask, and FlashInfer and vLLM where they are installed.

Each is built once for its inputs and returns what is to be timed: a function that attends and
returns its answer, [batch, num_heads, head_dim]. One that is not installed raises ``ImportError``.
"""

import math
from collections.abc import Callable

import torch
from torch.nn.functional import scaled_dot_product_attention

from kernels.bench.workload import Inputs

Attend = Callable[[], torch.Tensor]


def sdpa_on_contiguous(inputs: Inputs) -> Attend:
    """SDPA on K and V that someone else keeps contiguous; the copying is not counted."""
    k, v = (x.contiguous() for x in inputs.gathered())
    query = inputs.query[:, :, None]  # [batch, num_heads, 1, head_dim]
    return lambda: scaled_dot_product_attention(query, k, v, enable_gqa=True)[:, :, 0]


def gather_and_sdpa(inputs: Inputs) -> Attend:
    """What one would do without a paged kernel: copy the context together, then attend."""
    query = inputs.query[:, :, None]

    def attend() -> torch.Tensor:
        k, v = (x.contiguous() for x in inputs.gathered())
        return scaled_dot_product_attention(query, k, v, enable_gqa=True)[:, :, 0]

    return attend


def flex_attention(inputs: Inputs) -> Attend:
    """torch's FlexAttention over the whole pool, with a mask that knows whose slot is whose."""
    from torch.nn.attention.flex_attention import create_block_mask
    from torch.nn.attention.flex_attention import flex_attention as flex

    workload, (num_blocks, block_size) = inputs.workload, inputs.k_cache.shape[:2]
    owner = torch.empty(num_blocks, dtype=torch.int64, device=inputs.query.device)
    context_lens = inputs.context_lens
    first = torch.empty_like(owner)  # [num_blocks]: the position in a block's first slot
    rows = torch.arange(workload.batch, device=inputs.query.device)
    blocks = torch.arange(workload.blocks_per_sequence, device=inputs.query.device)
    owner[inputs.block_tables.long()] = rows[:, None]
    first[inputs.block_tables.long()] = blocks * block_size

    def is_own(b: torch.Tensor, h: torch.Tensor, q: torch.Tensor, kv: torch.Tensor) -> torch.Tensor:
        block, offset = kv // block_size, kv % block_size
        return (owner[block] == b) & (first[block] + offset < context_lens[b])

    mask = create_block_mask(
        is_own,
        B=workload.batch,
        H=None,
        Q_LEN=1,
        KV_LEN=num_blocks * block_size,
        device=str(inputs.query.device),
    )
    k, v = (
        cache.flatten(0, 1).transpose(0, 1)[None].expand(workload.batch, -1, -1, -1)
        for cache in (inputs.k_cache, inputs.v_cache)
    )  # [batch, num_kv_heads, slots, head_dim]
    compiled = torch.compile(flex)
    query = inputs.query[:, :, None]
    return lambda: compiled(query, k, v, block_mask=mask, enable_gqa=True)[:, :, 0]


def flashinfer(inputs: Inputs) -> Attend:
    """FlashInfer's decode wrapper, with tensor cores."""
    import flashinfer  # type: ignore[import-not-found, unused-ignore]

    workload = inputs.workload
    per_row = workload.blocks_per_sequence
    rows = torch.arange(workload.batch + 1, dtype=torch.int32, device=inputs.query.device)
    last = (workload.context_len - 1) % workload.block_size + 1
    workspace = torch.empty(2**27, dtype=torch.uint8, device=inputs.query.device)
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(workspace, "NHD", use_tensor_cores=True)
    wrapper.plan(
        rows * per_row,
        inputs.block_tables.flatten(),
        torch.full_like(inputs.context_lens, last),
        workload.num_heads,
        workload.num_kv_heads,
        workload.head_dim,
        workload.block_size,
        q_data_type=workload.dtype,
        kv_data_type=workload.dtype,
    )
    return lambda: wrapper.run(inputs.query, (inputs.k_cache, inputs.v_cache))


def vllm(inputs: Inputs) -> Attend:
    """vLLM's unified Triton attention."""
    from vllm.v1.attention.ops.triton_unified_attention import (  # type: ignore[import-not-found, unused-ignore]
        unified_attention,
    )

    workload, out = inputs.workload, torch.empty_like(inputs.query)
    starts = torch.arange(workload.batch + 1, dtype=torch.int32, device=inputs.query.device)

    def attend() -> torch.Tensor:
        unified_attention(
            q=inputs.query,
            k=inputs.k_cache,
            v=inputs.v_cache,
            out=out,
            cu_seqlens_q=starts,
            max_seqlen_q=1,
            seqused_k=inputs.context_lens,
            max_seqlen_k=workload.context_len,
            softmax_scale=1 / math.sqrt(workload.head_dim),
            causal=True,
            window_size=(-1, -1),
            block_table=inputs.block_tables,
            softcap=0,
            q_descale=None,
            k_descale=None,
            v_descale=None,
        )
        return out

    return attend


RIVALS: dict[str, Callable[[Inputs], Attend]] = {
    "SDPA, KV contiguous": sdpa_on_contiguous,
    "gather + SDPA": gather_and_sdpa,
    "FlexAttention, paged mask": flex_attention,
    "FlashInfer": flashinfer,
    "vLLM": vllm,
}
