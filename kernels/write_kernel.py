# mypy: disable-error-code="no-untyped-def, untyped-decorator, misc"
"""Write new K and V rows into their slots: the kernel that fills the cache.

    block, offset = slot // block_size, slot % block_size
    cache[block, offset] = row

One token's row of ``num_kv_heads * head_dim`` numbers goes to one slot. A slot of -1 means "this
row has no place" (padding of a batch) and is skipped. Arguments are taken as checked.
"""

import torch
import triton
import triton.language as tl

from kernels.launch import INTERPRETED, INTERPRETED_TILE, launch, next_power_of_2


@triton.jit
def write_slots_kernel(
    k, v, k_cache, v_cache, slot_mapping, num_tokens,
    K_ROW: tl.constexpr, V_ROW: tl.constexpr,  # from one token's row to the next
    K_STRIDES: tl.constexpr, V_STRIDES: tl.constexpr,  # of the caches: block, offset, kv head, dim
    BLOCK_SIZE: tl.constexpr, NUM_KV_HEADS: tl.constexpr, HEAD_DIM: tl.constexpr,
    SIDE_BY_SIDE: tl.constexpr,  # a slot's numbers are, in both caches
    TOKENS: tl.constexpr, CHANNELS: tl.constexpr,
):  # fmt: skip
    """Write ``TOKENS`` rows of K and of V; a row has ``CHANNELS`` columns, padding included."""
    # Rows of the tile are tokens. int64 from the start: an address may pass 2**31.
    token = tl.program_id(0).to(tl.int64) * TOKENS + tl.arange(0, TOKENS).to(tl.int64)
    slot = tl.load(slot_mapping + token, mask=token < num_tokens, other=-1)
    token, slot = token[:, None], slot[:, None]

    # Columns are channels. Their number is padded to a power of two, so some are masked.
    channel = tl.arange(0, CHANNELS).to(tl.int64)
    has_place = slot >= 0
    if CHANNELS != NUM_KV_HEADS * HEAD_DIM:
        has_place &= channel < NUM_KV_HEADS * HEAD_DIM  # [TOKENS, CHANNELS]
    k_from = token * K_ROW + channel
    v_from = k_from
    if V_ROW != K_ROW:
        v_from = token * V_ROW + channel
    k_row = tl.load(k + k_from, mask=has_place)
    v_row = tl.load(v + v_from, mask=has_place)

    block, offset = slot // BLOCK_SIZE, slot % BLOCK_SIZE
    k_channel, v_channel = channel, channel
    if not SIDE_BY_SIDE:
        head, dim = channel // HEAD_DIM, channel % HEAD_DIM
        k_channel = head * K_STRIDES[2] + dim * K_STRIDES[3]
        v_channel = head * V_STRIDES[2] + dim * V_STRIDES[3]
    k_at = (block * K_STRIDES[0] + offset * K_STRIDES[1]) + k_channel
    v_at = k_at
    if V_STRIDES != K_STRIDES:
        v_at = (block * V_STRIDES[0] + offset * V_STRIDES[1]) + v_channel
    tl.store(k_cache + k_at, k_row, mask=has_place)
    tl.store(v_cache + v_at, v_row, mask=has_place)


def write_slots(
    k: torch.Tensor,
    v: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
) -> None:
    """Launch: one program per token on a GPU, as many tokens as fit a tile when interpreted."""
    num_tokens, num_kv_heads, head_dim = k.shape
    k, v = _rows(k), _rows(v)
    channels = next_power_of_2(num_kv_heads * head_dim)
    tokens = 1
    if INTERPRETED:
        tokens = min(next_power_of_2(num_tokens), max(INTERPRETED_TILE // channels, 1))
    launch(
        write_slots_kernel,
        (triton.cdiv(num_tokens, tokens),),
        k, v, k_cache, v_cache, slot_mapping.contiguous(), num_tokens,
        K_ROW=k.stride(0), V_ROW=v.stride(0),
        K_STRIDES=k_cache.stride(), V_STRIDES=v_cache.stride(),
        BLOCK_SIZE=k_cache.shape[1], NUM_KV_HEADS=num_kv_heads, HEAD_DIM=head_dim,
        SIDE_BY_SIDE=k_cache.stride()[2:] == v_cache.stride()[2:] == (head_dim, 1),
        TOKENS=tokens, CHANNELS=channels,
        num_warps=2,  # so that a thread moves 16 bytes at a time, also where a warp has 64 threads
    )  # fmt: skip


def _rows(x: torch.Tensor) -> torch.Tensor:
    """``x`` with each token's numbers side by side, as they are in a slice of a fused projection.

    Tokens may lie apart; any other layout is copied, which is right because ``x`` is only read.
    """
    return x if x[0].is_contiguous() else x.contiguous()
