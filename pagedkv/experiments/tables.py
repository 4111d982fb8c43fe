"""Results as columns, for a table on a page."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pagedkv.experiments.block_sizes import BlockSizesResult
from pagedkv.experiments.faults import FaultResult
from pagedkv.experiments.shuffle import ShuffleResult
from pagedkv.trace.written import small, visible


def weight_table(result: FaultResult) -> dict[str, list[Any]]:
    """Columns by their names, a row for each position that either side reads.

    "position" (int), "token" (made visible; empty where B has no such position), "K or V misread"
    ("all heads", "head 1, 2" or empty), and for each query head its weights, "head 0, right" and
    "head 0, faulty", and "head 0, difference", faulty − right (floats; NaN where the faulty weight
    is).
    """
    num_heads, width = result.right_weights.shape
    table: dict[str, list[Any]] = {
        "position": list(range(width)),
        "token": [visible(token) for token in tokens(result)],
        "K or V misread": [_heads(by_head) for by_head in result.misread.T],
    }
    for head in range(num_heads):
        right, faulty = result.right_weights[head], result.faulty_weights[head]
        table[f"head {head}, right"] = right.tolist()
        table[f"head {head}, faulty"] = faulty.tolist()
        table[f"head {head}, difference"] = (faulty - right).tolist()
    return table


def _heads(misread: npt.NDArray[np.bool_]) -> str:
    """The heads that misread a position, in words."""
    if misread.all():
        return "all heads"
    heads = [str(head) for head in np.flatnonzero(misread)]
    return f"head {', '.join(heads)}" if heads else ""


def tokens(result: FaultResult) -> tuple[str, ...]:
    """B's token at each position that either side reads; empty where B has no such position."""
    width = result.right_weights.shape[1]
    return (*result.text, *[""] * (width - len(result.text)))


def shuffle_table(result: ShuffleResult) -> dict[str, list[str]]:
    """Each request's block table, before and after."""
    return {
        "request": [name for name, _ in result.old_tables],
        "table before": [str(list(table)) for _, table in result.old_tables],
        "table after": [str(list(table)) for _, table in result.new_tables],
    }


def sizes_table(result: BlockSizesResult) -> dict[str, list[Any]]:
    """A row for each block size: its blocks, its table, how far its answer is from the others."""
    return {
        "block size": [size.block_size for size in result.sizes],
        "blocks": [size.num_blocks for size in result.sizes],
        "table": [str(list(size.table)) for size in result.sizes],
        "difference to dense": [small(size.difference_to_dense) for size in result.sizes],
        "to the first size": [small(size.difference_to_first) for size in result.sizes],
    }
