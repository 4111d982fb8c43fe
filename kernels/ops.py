"""The launchers: check the arguments, then hand over to Triton or torch.

This is the whole of what the engine may call. Each operation exists twice with one algorithm, as a
Triton kernel and in torch; ``backend`` picks one for a single call, mostly for tests that compare
them, and left at ``None`` it is what the process chose (``kernels.backend``).
"""

from types import ModuleType
from typing import Literal, overload

import torch

from kernels import checks, torch_backend
from kernels.backend import CHOICE

if CHOICE.has_triton:  # a module that holds a Triton kernel cannot even be imported without Triton
    from kernels import triton_backend


@torch.no_grad()
def write_slots(
    k: torch.Tensor,
    v: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    *,
    backend: str | None = None,
) -> None:
    """Write each token's K and V into its slot, in place.

    ``k``, ``v``: ``[tokens, num_kv_heads, head_dim]``. ``k_cache``, ``v_cache``: one layer's pool,
    ``[num_blocks, block_size, num_kv_heads, head_dim]``, fp32, fp16 or bf16, same dtype as k and v.
    ``slot_mapping``: ``[tokens]`` int64, ``block_id * block_size + offset`` per token; -1 skips it.
    Any strides.

    Raises ``ValueError``, with nothing written, for a shape, dtype, device or ``backend`` that does
    not fit, a slot outside the pool, or one slot given to two tokens.
    """
    checks.check_write_slots(k, v, k_cache, v_cache, slot_mapping)
    implementation = _implementation(backend, k_cache)
    if len(slot_mapping):
        implementation.write_slots(k, v, k_cache, v_cache, slot_mapping)


@torch.no_grad()
def copy_blocks(
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    pairs: checks.Pairs,
    *,
    backend: str | None = None,
) -> None:
    """Copy whole blocks of K and V to other blocks, in place.

    ``k_cache``, ``v_cache``: ``[num_blocks, block_size, num_kv_heads, head_dim]``, or the same
    behind a leading layers axis (every layer is copied then); any strides. ``pairs``: ``[n, 2]``
    int32 or int64 of (source, destination), or a list of such pairs.

    Raises ``ValueError``, with nothing written, for a shape, dtype, device or ``backend`` that does
    not fit, an id outside the pool, or a destination that occurs twice or is also a source.
    """
    pairs = checks.check_copy_blocks(k_cache, v_cache, pairs)
    implementation = _implementation(backend, k_cache)
    if len(pairs) and k_cache.numel():
        implementation.copy_blocks(k_cache, v_cache, pairs)


@overload
def paged_attention(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_tables: torch.Tensor,
    context_lens: torch.Tensor,
    *,
    scale: float | None = None,
    return_weights: Literal[False] = False,
    backend: str | None = None,
) -> torch.Tensor: ...


@overload
def paged_attention(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_tables: torch.Tensor,
    context_lens: torch.Tensor,
    *,
    scale: float | None = None,
    return_weights: Literal[True],
    backend: str | None = None,
) -> tuple[torch.Tensor, torch.Tensor]: ...


@torch.no_grad()
def paged_attention(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_tables: torch.Tensor,
    context_lens: torch.Tensor,
    *,
    scale: float | None = None,
    return_weights: bool = False,
    backend: str | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attend with each row's query over that row's context, read through its block table.

    ``query``: ``[rows, num_heads, head_dim]``; query head ``h`` uses KV head
    ``h // (num_heads // num_kv_heads)``. ``k_cache``, ``v_cache``: one layer's pool, ``[num_blocks,
    block_size, num_kv_heads, head_dim]``, fp32, fp16 or bf16, the query's dtype. ``block_tables``:
    ``[rows, max_blocks]`` int32; ``context_lens``: ``[rows]`` int32. Of a table row only the first
    ``ceil(context_len / block_size)`` entries are looked at, and of its last block only the slots
    within the context. ``scale`` is ``head_dim ** -0.5`` unless given. Any strides.

    Returns ``out`` like ``query`` (zeros for context length 0), accumulated in fp32; with
    ``return_weights`` also the attention weights, ``[rows, num_heads, max(context_lens)]`` fp32, 0
    past each row's length.

    Raises ``ValueError`` for a shape, dtype, device or ``backend`` that does not fit, a context
    longer than its table, or a block id outside the pool.
    """
    longest = checks.check_paged_attention(
        query, k_cache, v_cache, block_tables, context_lens, scale
    )
    implementation = _implementation(backend, k_cache)
    rows, num_heads, head_dim = query.shape
    weights = None
    if return_weights:  # zeros, and only what lies in a context is ever overwritten
        weights = query.new_zeros((rows, num_heads, longest), dtype=torch.float32)
    if longest == 0:
        out = torch.zeros_like(query, memory_format=torch.contiguous_format)
    else:
        out = implementation.paged_attention(
            query,
            k_cache,
            v_cache,
            block_tables,
            context_lens,
            longest,
            checks.scale_or_default(scale, head_dim),
            weights,
        )
    return out if weights is None else (out, weights)


@overload
def paged_prefill(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_table: torch.Tensor,
    context_len: int,
    *,
    scale: float | None = None,
    return_weights: Literal[False] = False,
    backend: str | None = None,
) -> torch.Tensor: ...


@overload
def paged_prefill(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_table: torch.Tensor,
    context_len: int,
    *,
    scale: float | None = None,
    return_weights: Literal[True],
    backend: str | None = None,
) -> tuple[torch.Tensor, torch.Tensor]: ...


@torch.no_grad()
def paged_prefill(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_table: torch.Tensor,
    context_len: int,
    *,
    scale: float | None = None,
    return_weights: bool = False,
    backend: str | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attend with the last positions of one request, each over itself and what is before it.

    ``query``: ``[tokens, num_heads, head_dim]``, the last ``tokens`` of the request's
    ``context_len`` positions, in order; K and V of all of them are in the caches. ``block_table``:
    ``[max_blocks]`` int32. Everything else as for ``paged_attention``, which this equals for rows
    with the same table and context lengths ``context_len - tokens + 1`` to ``context_len``; here K
    and V are read once for many rows.

    Returns ``out`` like ``query``; with ``return_weights`` also the attention weights, ``[tokens,
    num_heads, context_len]`` fp32, 0 past each position.

    Raises ``ValueError`` for a shape, dtype, device or ``backend`` that does not fit, a
    ``context_len`` below ``tokens`` or beyond the table, or a block id outside the pool.
    """
    checks.check_paged_prefill(query, k_cache, v_cache, block_table, context_len, scale)
    implementation = _implementation(backend, k_cache)
    tokens, num_heads, head_dim = query.shape
    weights = None
    if return_weights:
        weights = query.new_zeros((tokens, num_heads, context_len), dtype=torch.float32)
    if tokens == 0:
        out = torch.zeros_like(query, memory_format=torch.contiguous_format)
    else:
        out = implementation.paged_prefill(
            query,
            k_cache,
            v_cache,
            block_table,
            context_len,
            checks.scale_or_default(scale, head_dim),
            weights,
        )
    return out if weights is None else (out, weights)


def _implementation(backend: str | None, cache: torch.Tensor) -> ModuleType:
    """The module that does the work of this call."""
    if backend not in (None, "triton", "torch"):
        raise ValueError(f"backend is {backend!r}; it must be None, 'triton' or 'torch'")
    if backend == "torch" or not CHOICE.has_triton:
        if backend == "triton":
            raise ValueError("backend is 'triton', but this process runs without Triton")
        return torch_backend
    if not CHOICE.interpreted and cache.device.type != "cuda":
        raise ValueError(
            f"k_cache is on {cache.device}; compiled Triton kernels need it on cuda "
            "(PAGEDKV_DEVICE=cpu runs them on the CPU)"
        )
    return triton_backend
