"""What is measured: a decode step of some sequences with contexts of some length."""

from dataclasses import dataclass, replace

import torch


@dataclass(frozen=True, slots=True)
class Workload:
    """Decode of ``batch`` sequences of ``context_len`` positions; heads as in Llama 3 8B."""

    batch: int
    context_len: int
    block_size: int = 16
    num_heads: int = 32
    num_kv_heads: int = 8
    head_dim: int = 128
    dtype: torch.dtype = torch.bfloat16

    @property
    def blocks_per_sequence(self) -> int:
        """Entries of a table row."""
        return -(-self.context_len // self.block_size)

    @property
    def kv_bytes(self) -> int:
        """Bytes of K and V that every attention must read, however it is done."""
        numbers = self.batch * self.context_len * self.num_kv_heads * self.head_dim
        return 2 * numbers * self.dtype.itemsize

    @property
    def table_bytes(self) -> int:
        """Bytes of the block tables, read once for each KV head."""
        return 4 * self.batch * self.blocks_per_sequence * self.num_kv_heads

    def __str__(self) -> str:
        return f"{self.batch} x {self.context_len:,}, block size {self.block_size}"


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """A workload's tensors: one query a sequence, a pool, tables, lengths."""

    workload: Workload
    query: torch.Tensor  # [batch, num_heads, head_dim]
    k_cache: torch.Tensor  # [num_blocks, block_size, num_kv_heads, head_dim]
    v_cache: torch.Tensor
    block_tables: torch.Tensor  # [batch, blocks_per_sequence] int32
    context_lens: torch.Tensor  # [batch] int32

    def in_order(self) -> "Inputs":
        """The same pool read from its beginning to its end."""
        tables = torch.arange(self.block_tables.numel(), dtype=torch.int32)
        tables = tables.reshape(self.block_tables.shape).to(self.query.device)
        return replace(self, block_tables=tables)

    def context(self, row: int) -> tuple[torch.Tensor, torch.Tensor]:
        """One sequence's K and V in order, [context_len, num_kv_heads, head_dim] each."""
        blocks, context_len = self.block_tables[row].long(), self.workload.context_len
        k, v = (cache[blocks].flatten(0, 1) for cache in (self.k_cache, self.v_cache))
        return k[:context_len], v[:context_len]

    def gathered(self) -> tuple[torch.Tensor, torch.Tensor]:
        """K and V copied out of their blocks, [batch, num_kv_heads, context_len, head_dim]."""
        k, v = (
            cache[self.block_tables.long()].flatten(1, 2)[:, : self.workload.context_len]
            for cache in (self.k_cache, self.v_cache)
        )  # [batch, context_len, num_kv_heads, head_dim]
        return k.transpose(1, 2), v.transpose(1, 2)


def make_inputs(workload: Workload, device: torch.device, seed: int = 0) -> Inputs:
    """Unit-normal numbers in blocks that lie anywhere in the pool."""
    torch.manual_seed(seed)
    num_blocks = workload.batch * workload.blocks_per_sequence
    shape = (num_blocks, workload.block_size, workload.num_kv_heads, workload.head_dim)

    def normal(*size: int) -> torch.Tensor:
        return torch.randn(*size, dtype=workload.dtype, device=device)

    permuted = torch.randperm(num_blocks, dtype=torch.int32, device=device)
    return Inputs(
        workload,
        query=normal(workload.batch, workload.num_heads, workload.head_dim),
        k_cache=normal(*shape),
        v_cache=normal(*shape),
        block_tables=permuted.reshape(workload.batch, -1),
        context_lens=torch.full(
            (workload.batch,), workload.context_len, dtype=torch.int32, device=device
        ),
    )
