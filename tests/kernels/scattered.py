"""Contexts scattered over a pool, with everything that a reader must not touch made poisonous.

The caches are filled by plain indexing, so that a test of one kernel does not lean on another.
"""

import random
from dataclasses import dataclass

import torch

import kernels

BACKENDS = ("triton", "torch")
BLOCK_SIZES = (1, 2, 3, 4, 5, 8, 16)


@dataclass
class Scattered:
    """Arguments of ``paged_attention``, and each row's own K and V in order."""

    query: torch.Tensor  # [rows, num_heads, head_dim]
    k_cache: torch.Tensor  # [num_blocks, block_size, num_kv_heads, head_dim]
    v_cache: torch.Tensor
    block_tables: torch.Tensor  # [rows, max_blocks] int32
    context_lens: torch.Tensor  # [rows] int32
    keys: list[torch.Tensor]  # per row [context_len, num_kv_heads, head_dim]
    values: list[torch.Tensor]

    @property
    def arguments(self) -> tuple[torch.Tensor, ...]:
        return (self.query, self.k_cache, self.v_cache, self.block_tables, self.context_lens)


def edge_lengths(block_size: int) -> list[int]:
    """Context lengths around every edge of the first two blocks."""
    edges = {1, block_size - 1, block_size, block_size + 1, 2 * block_size, 2 * block_size + 1}
    return sorted(edges - {0})


def scatter(
    context_lens: list[int],
    *,
    block_size: int = 4,
    num_heads: int = 4,
    num_kv_heads: int = 2,
    head_dim: int = 32,
    dtype: torch.dtype = torch.float32,
    poison: float = torch.nan,
    past_the_end: int = -1,
    seed: int = 0,
) -> Scattered:
    """Unit-normal K, V and queries in shuffled blocks.

    ``poison`` is in every slot that no context uses: the rest of last blocks and three free
    blocks. ``past_the_end`` is in every table entry after the used ones, of which each row has at
    least one.
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator).to(dtype)

    num_used = [-(-n // block_size) for n in context_lens]
    num_blocks = sum(num_used) + 3
    free = list(range(num_blocks))
    random.Random(seed).shuffle(free)

    shape = (num_blocks, block_size, num_kv_heads, head_dim)
    k_cache = torch.full(shape, poison, dtype=dtype)
    v_cache = torch.full(shape, poison, dtype=dtype)
    tables = torch.full((len(context_lens), max(num_used, default=0) + 1), past_the_end)
    keys, values = [], []
    for row, n in enumerate(context_lens):
        blocks = [free.pop() for _ in range(num_used[row])]
        tables[row, : len(blocks)] = torch.tensor(blocks)
        keys.append(normal(n, num_kv_heads, head_dim))
        values.append(normal(n, num_kv_heads, head_dim))
        for i, block in enumerate(blocks):
            part = slice(i * block_size, (i + 1) * block_size)
            k_cache[block, : len(keys[row][part])] = keys[row][part]
            v_cache[block, : len(keys[row][part])] = values[row][part]
    return Scattered(
        query=normal(len(context_lens), num_heads, head_dim),
        k_cache=k_cache,
        v_cache=v_cache,
        block_tables=tables.int(),
        context_lens=torch.tensor(context_lens, dtype=torch.int32),
        keys=keys,
        values=values,
    )


def assert_equals_dense(
    case: Scattered,
    out: torch.Tensor,
    weights: torch.Tensor | None = None,
    *,
    tolerance: float = 1e-5,
    scale: float | None = None,
) -> None:
    """Compare every row, and its weights if given, with the float64 oracle."""
    assert out.shape == case.query.shape
    assert out.dtype == case.query.dtype
    expected = torch.zeros(out.shape, dtype=torch.float64)
    longest = max(len(k) for k in case.keys)
    expected_weights = torch.zeros(*out.shape[:2], longest, dtype=torch.float64)
    for row, (k, v) in enumerate(zip(case.keys, case.values, strict=True)):
        expected[row], within = kernels.dense_attention(case.query[row], k, v, scale=scale)
        expected_weights[row, :, : len(k)] = within
    torch.testing.assert_close(out.double(), expected, atol=tolerance, rtol=0)
    if weights is not None:
        torch.testing.assert_close(weights.double(), expected_weights, atol=tolerance, rtol=0)
        assert (weights[expected_weights == 0] == 0).all()
