"""Faults in what the kernel is told: wrong table entries, a wrong length, wrong heads.

The pool is as it should be, and so is everything that was written.
"""

from dataclasses import replace

from pagedkv.experiments.faults import Fault, FaultyRead, as_it_should_be
from pagedkv.experiments.reports import (
    CS249R_BOOK_1953,
    DINGOCACHE_234,
    JAX_JS_180,
    SPARKINFER_146,
    VLLM_47305,
)
from pagedkv.experiments.scene import Pools, Scene
from pagedkv.layout import empty_slots
from pagedkv.narration import join


def logical_as_physical(scene: Scene) -> FaultyRead:
    """Read block 0, 1, 2… of the pool, whatever the table says."""
    table = tuple(range(len(scene.table)))
    read = as_it_should_be(
        scene, "B's table is in order, P0, P1 and so on: here it makes no difference."
    )
    if table == scene.table:
        return read
    account = f"Read were {_blocks(table)}; B's K and V lie in {_blocks(scene.table)}."
    return replace(read, table=table, account=account)


def one_too_short(scene: Scene) -> FaultyRead:
    """Leave out the newest position, the query's own."""
    last = scene.context_len - 1
    account = f"Position {last} was not read: the query did not see its own K and V."
    return replace(as_it_should_be(scene, account), context_len=last)


def one_too_long(scene: Scene) -> FaultyRead:
    """Read one slot more than B has stored positions."""
    if empty_slots(scene.context_len, scene.block_size) == 0:
        return as_it_should_be(
            scene,
            f"B's {scene.context_len} positions fill its last block, and no table entry leads "
            "further: the launcher refuses a longer context.",
        )
    account = (
        f"The slot behind position {scene.context_len - 1}, in P{scene.table[-1]}, was read too. "
        "It holds what an earlier request left there."
    )
    return replace(as_it_should_be(scene, account), context_len=scene.context_len + 1)


def stale_entry(scene: Scene) -> FaultyRead:
    """Find B's last block by the entry that an earlier request left in the same row."""
    last = len(scene.table) - 1
    stale, right = scene.earlier_table[last], scene.table[last]
    if stale == right:
        return as_it_should_be(scene, f"The earlier request had P{right} there too, by chance.")
    account = (
        f"L{last} still said P{stale}, from a request that has ended; B's K and V are in P{right}."
    )
    return replace(as_it_should_be(scene, account), table=(*scene.table[:last], stale))


def wrong_kv_head(scene: Scene) -> FaultyRead:
    """Let query head h read KV head h % num_kv_heads instead of h // group.

    The kernel is given a pool in which each query head has a KV head of its own: the wrong one.
    """
    num_heads, num_kv_heads = len(scene.query), scene.pools.k.shape[2]
    group = num_heads // num_kv_heads
    right = [head // group for head in range(num_heads)]
    heads = [head % num_kv_heads for head in range(num_heads)]
    if heads == right:
        account = f"With {num_kv_heads} KV heads for {num_heads} query heads both rules agree."
        return as_it_should_be(scene, account)
    # [num_blocks, block_size, num_heads, head_dim]
    pools = Pools(scene.pools.k[:, :, heads], scene.pools.v[:, :, heads])
    swapped = [
        f"query head {head} read KV head {wrong} instead of {own}"
        for head, (wrong, own) in enumerate(zip(heads, right, strict=True))
        if wrong != own
    ]
    account = join(swapped) + "."
    return replace(as_it_should_be(scene, account[0].upper() + account[1:]), pools=pools)


def _blocks(table: tuple[int, ...]) -> str:
    return join([f"P{block_id}" for block_id in table])


WRONG_READS = (
    Fault(
        "logical-as-physical",
        "The logical block taken for the physical one",
        "The kernel skips the table and takes a logical block's number for a place in the pool. It "
        "works only where blocks are handed out in order, and only for the first request of an "
        "empty pool, as long as no other takes blocks before it is done.",
        DINGOCACHE_234,
        logical_as_physical,
    ),
    Fault(
        "one-too-short",
        "A context length one too short",
        "The length is taken before the newest input is counted. The query attends to everything "
        "but its own position.",
        CS249R_BOOK_1953,
        one_too_short,
    ),
    Fault(
        "one-too-long",
        "A context length one too long",
        "The kernel reads one slot past the newest position. It has not been written yet, so old "
        "bytes take part in the softmax.",
        VLLM_47305,
        one_too_long,
    ),
    Fault(
        "stale-entry",
        "A table entry left over",
        "A row of the table is used again and one entry was not renewed. It leads to a block of a "
        "request that has ended, and somebody else may own it by now.",
        SPARKINFER_146,
        stale_entry,
    ),
    Fault(
        "wrong-kv-head",
        "The wrong KV head",
        "Several query heads share a KV head: head h reads KV head h // group. With h % KV heads "
        "every index is valid, and some heads read another head's K and V.",
        JAX_JS_180,
        wrong_kv_head,
    ),
)
