"""Are the kernels right on this machine's device? Small random cases against the float64 oracle.

Each case writes K and V into shuffled blocks of a pool that holds NaN everywhere else, moves one
block by a copy, and attends: as a decode step over several contexts, and as a prefill of the last.
The error is relative: the L2 norm of the difference over that of the oracle's answer to the same
inputs, rounded to the dtype, per row and head; the largest counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from kernels.dense_attention import dense_attention
from kernels.ops import copy_blocks, paged_attention, paged_prefill, write_slots

# Half a step of the dtype's last place, plus what an fp32 sum adds (fp32: 2**-24 a step).
BOUNDS = {torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 1e-2}


@dataclass(frozen=True, slots=True)
class Shape:
    """One case: contexts of these lengths in blocks of this size."""

    context_lens: tuple[int, ...]
    block_size: int
    num_heads: int
    num_kv_heads: int
    head_dim: int


SHAPES = (
    Shape((9, 6, 1), 4, 4, 2, 32),
    Shape((33, 5), 1, 8, 8, 13),
    Shape((48, 47, 49), 16, 8, 1, 128),
    Shape((65, 2), 12, 9, 3, 80),
    Shape((700, 333), 16, 8, 2, 64),  # several tiles, and several splits where a GPU splits
)


def worst_errors(device: torch.device, seed: int = 0) -> dict[torch.dtype, float]:
    """Return the largest relative error for each dtype; NaN if anything was read that must not."""
    generator = torch.Generator().manual_seed(seed)
    return {
        dtype: max(
            (error for shape in SHAPES for error in _errors(shape, dtype, device, generator)),
            key=lambda error: (error != error, error),  # NaN is the largest
        )
        for dtype in BOUNDS
    }


def _errors(
    shape: Shape, dtype: torch.dtype, device: torch.device, generator: torch.Generator
) -> Iterator[float]:
    """The errors of one case: each row of the decode step, and each of the prefill."""

    def normal(*size: int) -> torch.Tensor:
        return torch.randn(*size, generator=generator).to(dtype)

    lens, block_size = shape.context_lens, shape.block_size
    kv_shape, q_shape = (shape.num_kv_heads, shape.head_dim), (shape.num_heads, shape.head_dim)
    num_used = [-(-n // block_size) for n in lens]
    num_blocks = sum(num_used) + 3
    order = torch.randperm(num_blocks, generator=generator).tolist()
    pool = torch.full((2, num_blocks, block_size, *kv_shape), torch.nan, dtype=dtype)
    k_cache, v_cache = pool.to(device)
    tables = torch.full((len(lens), max(num_used)), -1, dtype=torch.int32)
    keys, values = [normal(n, *kv_shape) for n in lens], [normal(n, *kv_shape) for n in lens]
    for row, n in enumerate(lens):
        blocks = torch.tensor([order.pop() for _ in range(num_used[row])])
        tables[row, : len(blocks)] = blocks.int()
        positions = torch.arange(n)
        slots = blocks[positions // block_size] * block_size + positions % block_size
        write_slots(
            keys[row].to(device), values[row].to(device), k_cache, v_cache, slots.to(device)
        )
    source, destination = int(tables[0, 0]), order.pop()
    copy_blocks(k_cache, v_cache, [(source, destination)])
    tables[0, 0] = destination
    k_cache[source], v_cache[source] = torch.nan, torch.nan

    query = normal(len(lens), *q_shape)
    out = paged_attention(
        query.to(device),
        k_cache,
        v_cache,
        tables.to(device),
        torch.tensor(lens, dtype=torch.int32, device=device),
    )
    for row, n in enumerate(lens):
        yield _error(out[row], query[row], keys[row][:n], values[row][:n])

    n = lens[-1]
    query = normal(n, *q_shape)
    out = paged_prefill(query.to(device), k_cache, v_cache, tables[-1].to(device), n)
    for position in range(0, n, max(n // 8, 1)):
        seen = slice(0, position + 1)
        yield _error(out[position], query[position], keys[-1][seen], values[-1][seen])


def _error(out: torch.Tensor, query: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> float:
    """The largest relative L2 error of a head; ``out`` and ``query`` are [num_heads, head_dim]."""
    expected, _ = dense_attention(query, k, v)
    difference = (out.cpu().double() - expected).norm(dim=-1) / expected.norm(dim=-1)
    return float(difference.max())
