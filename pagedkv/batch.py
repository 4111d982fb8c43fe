"""The inputs of one execution, flattened: a row is one position of one request.

Rows of several requests lie one after the other, so a prompt of six and a single new token are
seven rows of the same batch. Every row carries its own table and context length; these keep
requests, and a prompt's causal order, apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from pagedkv.layout import ceil_div

UNUSED = -1  # what a table row holds past its last block


@dataclass(frozen=True, slots=True)
class Row:
    """One input: ``position`` of ``request``, whose K and V go to the flat slot ``slot``."""

    request: str
    position: int
    slot: int

    @property
    def context_len(self) -> int:
        """Positions that this row's query attends to, its own included."""
        return self.position + 1


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows in order, and the same as tensors for the model and the kernels.

    ``positions`` [rows] int64, ``slot_mapping`` [rows] int64, ``block_tables`` [rows, max_blocks]
    int32 with -1 past a row's last block, ``context_lens`` [rows] int32.
    """

    rows: tuple[Row, ...]
    positions: torch.Tensor
    slot_mapping: torch.Tensor
    block_tables: torch.Tensor
    context_lens: torch.Tensor

    def rows_of(self, request: str) -> tuple[int, ...]:
        """Indices of the rows that belong to ``request``, in the order of their positions."""
        return tuple(i for i, row in enumerate(self.rows) if row.request == request)

    @property
    def prefills(self) -> tuple[slice, ...]:
        """The rows of each request that has several, in one stretch."""
        own = (self.rows_of(request) for request in self.requests)
        return tuple(slice(rows[0], rows[-1] + 1) for rows in own if len(rows) > 1)

    @property
    def decodes(self) -> tuple[int, ...]:
        """The rows that are their request's only one."""
        own = (self.rows_of(request) for request in self.requests)
        return tuple(rows[0] for rows in own if len(rows) == 1)

    @property
    def requests(self) -> tuple[str, ...]:
        """The requests in the batch, each once, in order."""
        return tuple(dict.fromkeys(row.request for row in self.rows))


def make_batch(
    rows: Sequence[Row],
    tables: dict[str, tuple[int, ...]],
    block_size: int,
    device: torch.device,
) -> Batch:
    """Lay out ``rows``; ``tables`` gives each request's block table as it is after allocation."""
    width = max((ceil_div(row.context_len, block_size) for row in rows), default=0)
    block_tables = torch.full((len(rows), width), UNUSED, dtype=torch.int32)  # [rows, max_blocks]
    for i, row in enumerate(rows):
        # A prompt's early rows do not reach the later blocks; they must not even name them.
        reached = tables[row.request][: ceil_div(row.context_len, block_size)]
        block_tables[i, : len(reached)] = torch.tensor(reached, dtype=torch.int32)
    positions = torch.tensor([row.position for row in rows], dtype=torch.int64)  # [rows]
    return Batch(
        rows=tuple(rows),
        positions=positions.to(device),
        slot_mapping=torch.tensor([row.slot for row in rows], dtype=torch.int64).to(device),
        block_tables=block_tables.to(device),
        context_lens=(positions + 1).to(torch.int32).to(device),
    )
