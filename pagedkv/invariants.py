"""What must always be true of a pool and the block tables over it.

Pure questions, asked after every operation by the tests and at any time by the curious. No engine
path depends on them, and they may look at every block.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pagedkv.block_pool import BlockPool
from pagedkv.layout import blocks_needed


def violations(
    pool: BlockPool,
    tables: Mapping[str, Sequence[int]],
    num_tokens: Mapping[str, int],
    block_size: int,
) -> list[str]:
    """Say in words what is wrong; an empty list means that all is well.

    ``tables`` and ``num_tokens`` are by request name.
    """
    entries = Counter(block_id for table in tables.values() for block_id in table)
    return [
        *pool.check(),
        *_lost_or_invented(pool, entries),
        *_miscounted(pool, entries),
        *_wrong_tables(tables, num_tokens, block_size),
    ]


def _lost_or_invented(pool: BlockPool, entries: Counter[int]) -> Iterator[str]:
    """Free blocks + distinct blocks in use = pool."""
    if pool.num_free + len(entries) != pool.num_blocks:
        yield f"{pool.num_free} free + {len(entries)} in use is not {pool.num_blocks}"


def _miscounted(pool: BlockPool, entries: Counter[int]) -> Iterator[str]:
    """Ref count = number of table entries that point to the block."""
    for block_id in range(pool.num_blocks):
        ref_count = pool.ref_count(block_id)
        if ref_count != entries[block_id]:
            yield f"P{block_id}: ref count {ref_count}, table entries {entries[block_id]}"


def _wrong_tables(
    tables: Mapping[str, Sequence[int]], num_tokens: Mapping[str, int], block_size: int
) -> Iterator[str]:
    """A table has exactly the blocks its positions need, each of them once."""
    for name, table in tables.items():
        right = blocks_needed(num_tokens[name], block_size)
        if len(table) != right:
            yield f"{name} has {num_tokens[name]} positions in {len(table)} blocks, not {right}"
        for block_id, times in Counter(table).items():
            if times > 1:
                yield f"{name} has P{block_id} in its table {times} times"
