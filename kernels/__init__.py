"""The kernels of a paged KV cache: write it, copy in it, attend through it, and check the result.

Four operations in Triton, the same four in torch for machines without Triton, and an oracle in
float64 that shares nothing with either. Tensors and ints only: this package has never heard of
requests, lessons or models.

One layer's K, and likewise its V, is one pool ``[num_blocks, block_size, num_kv_heads, head_dim]``.
A token's slot is ``block_id * block_size + offset``; a block table maps a request's logical blocks
to block ids.

Read in this order: ``ops`` (what can be called), ``torch_backend`` (the algorithms in a few lines),
``write_kernel``, ``copy_kernel``, ``attention_kernel``, ``reduce_kernel`` (the same as kernels),
``attention_launch`` (who does how much), ``attention_steps`` (how to watch it), ``dense_attention``
(what they must equal), ``checks`` (what they refuse), ``backend`` and ``launch`` (what runs them).
"""

from kernels.attention_steps import AttentionSteps, attention_steps, recordable_tiles
from kernels.backend import runtime
from kernels.dense_attention import dense_attention
from kernels.ops import copy_blocks, paged_attention, paged_prefill, write_slots

__all__ = [
    "AttentionSteps",
    "attention_steps",
    "copy_blocks",
    "dense_attention",
    "paged_attention",
    "paged_prefill",
    "recordable_tiles",
    "runtime",
    "write_slots",
]
