"""One decode step of all requests of a scene, launched once and recorded on its way."""

from dataclasses import dataclass

import torch

import kernels
from pagedkv.dense_reference import DenseResult
from pagedkv.experiments.scene import Scene


@dataclass(frozen=True, slots=True, eq=False)
class RecordedLaunch:
    """The rows of the launch, one a request: its characters, its table, its dense result.

    ``block_tables`` hold physical block ids by logical block. ``steps`` is what was recorded.
    """

    requests: tuple[str, ...]
    texts: tuple[str, ...]
    block_tables: tuple[tuple[int, ...], ...]
    dense: tuple[DenseResult, ...]
    steps: kernels.AttentionSteps

    def difference_to_dense(self, row: int, head: int) -> float:
        """The largest difference of one row and head's output to the dense reference's."""
        difference = self.steps.out[row, head].cpu().double() - self.dense[row].out[head]
        return float(difference.abs().max())


def record_launch(scene: Scene, tile: int) -> RecordedLaunch:
    """Let every request of ``scene`` attend with its last query, ``tile`` positions a step.

    Raises ValueError for a tile that ``kernels.attention_steps`` refuses, and without Triton.
    """
    cache, engine = scene.engine.cache, scene.engine
    records = [engine.last_attention(name, scene.layer) for name in cache.requests]
    width = max(len(record.block_table) for record in records)
    tables = torch.full((len(records), width), -1, dtype=torch.int32)  # [rows, max_blocks]
    for row, record in enumerate(records):
        tables[row, : len(record.block_table)] = torch.tensor(record.block_table)
    lengths = torch.tensor([record.position + 1 for record in records], dtype=torch.int32)
    steps = kernels.attention_steps(
        torch.stack([record.query for record in records]).to(cache.device),
        scene.pools.k,
        scene.pools.v,
        tables.to(cache.device),
        lengths.to(cache.device),
        tile=tile,
    )
    return RecordedLaunch(
        requests=cache.requests,
        texts=tuple(engine.text(record.request)[: record.position + 1] for record in records),
        block_tables=tuple(record.block_table for record in records),
        dense=tuple(record.dense for record in records),
        steps=steps,
    )
