# mypy: disable-error-code="no-untyped-def, untyped-decorator, misc"
"""Copy whole blocks of K and V inside the pool: what copy-on-write needs before its write.

    cache[:, destination] = cache[:, source]

Programs run in any order, or at once. That is only right because no destination is also a source
and none occurs twice; the checks see to it. Arguments are taken as checked.

The step from layer to layer grows with the pool, so it is an argument and not a constant: a pool of
another size does not compile the kernel again.
"""

import torch
import triton
import triton.language as tl

from kernels.launch import INTERPRETED, INTERPRETED_TILE, launch, next_power_of_2


@triton.jit
def copy_blocks_kernel(
    k_cache, v_cache, pairs, num_copies, k_layer, v_layer,  # from one layer to the next
    K_STRIDES: tl.constexpr, V_STRIDES: tl.constexpr,  # block, offset, kv head, dim
    NUM_LAYERS: tl.constexpr, NUM_KV_HEADS: tl.constexpr, HEAD_DIM: tl.constexpr,
    ALIKE: tl.constexpr,  # K and V have the same strides
    BLOCK_NUMEL: tl.constexpr, COPIES: tl.constexpr, ELEMENTS: tl.constexpr,
):  # fmt: skip
    """Copy ``ELEMENTS`` elements of ``COPIES`` copies; a copy is one pair in one layer."""
    # Rows of the tile are copies. int64 from the start: an address may pass 2**31.
    copy = tl.program_id(0).to(tl.int64) * COPIES + tl.arange(0, COPIES).to(tl.int64)[:, None]
    exists = copy < num_copies
    pair, layer = pairs + copy // NUM_LAYERS * 2, copy % NUM_LAYERS
    source = tl.load(pair, mask=exists, other=0)
    destination = tl.load(pair + 1, mask=exists, other=0)

    # Columns are a stretch of the block's elements, in the order offset, kv head, dim.
    element = tl.program_id(1).to(tl.int64) * ELEMENTS + tl.arange(0, ELEMENTS).to(tl.int64)
    mask = exists & (element < BLOCK_NUMEL)  # [COPIES, ELEMENTS]
    offset = element // (NUM_KV_HEADS * HEAD_DIM)
    head, dim = element // HEAD_DIM % NUM_KV_HEADS, element % HEAD_DIM

    inside = offset * K_STRIDES[1] + head * K_STRIDES[2] + dim * K_STRIDES[3]
    inside = layer * k_layer + inside
    k_from, k_to = inside + source * K_STRIDES[0], inside + destination * K_STRIDES[0]
    v_from, v_to = k_from, k_to
    if not ALIKE:
        inside = offset * V_STRIDES[1] + head * V_STRIDES[2] + dim * V_STRIDES[3]
        inside = layer * v_layer + inside
        v_from, v_to = inside + source * V_STRIDES[0], inside + destination * V_STRIDES[0]
    tl.store(k_cache + k_to, tl.load(k_cache + k_from, mask=mask, other=0.0), mask=mask)
    tl.store(v_cache + v_to, tl.load(v_cache + v_from, mask=mask, other=0.0), mask=mask)


def copy_blocks(k_cache: torch.Tensor, v_cache: torch.Tensor, pairs: torch.Tensor) -> None:
    """Launch over ``[layers, blocks, block_size, kv_heads, head_dim]`` or the same without layers.

    On a GPU a program moves 1,024 elements of one copy, so that even one block of a deep model
    keeps many programs busy. Interpreted, one program moves all that fits a tile.
    """
    if k_cache.dim() == 4:
        k_cache, v_cache = k_cache.unsqueeze(0), v_cache.unsqueeze(0)
    num_layers, _, block_size, num_kv_heads, head_dim = k_cache.shape
    block_numel = block_size * num_kv_heads * head_dim
    num_copies = num_layers * len(pairs)
    if INTERPRETED:
        elements = min(next_power_of_2(block_numel), INTERPRETED_TILE)
        copies = min(next_power_of_2(num_copies), INTERPRETED_TILE // elements)
    else:
        elements, copies = 1024, 1
    launch(
        copy_blocks_kernel,
        (triton.cdiv(num_copies, copies), triton.cdiv(block_numel, elements)),
        k_cache, v_cache, pairs.contiguous(), num_copies, k_cache.stride(0), v_cache.stride(0),
        K_STRIDES=k_cache.stride()[1:], V_STRIDES=v_cache.stride()[1:],
        ALIKE=k_cache.stride() == v_cache.stride(),
        NUM_LAYERS=num_layers, NUM_KV_HEADS=num_kv_heads, HEAD_DIM=head_dim,
        BLOCK_NUMEL=block_numel, COPIES=copies, ELEMENTS=elements,
        num_warps=2,  # so that a thread moves 16 bytes at a time, also where a warp has 64 threads
    )  # fmt: skip
