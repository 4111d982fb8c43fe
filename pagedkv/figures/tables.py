"""The figures' data as tables, to be shown beside them or taken along; a row per frame or cell."""

import pandas as pd

from pagedkv.figures.attention_data import attention_map
from pagedkv.figures.memory_data import Moment, memory_story
from pagedkv.trace.frame import Trace
from pagedkv.trace.written import visible


def attention_table(trace: Trace, request: str, layer: int, head: int) -> pd.DataFrame:
    """List every query with every key that it may see: both weights and their difference.

    Raises ``ValueError`` as ``attention_figure`` does.
    """
    attention = attention_map(trace, request, layer, head)
    difference = attention.difference
    return pd.DataFrame(
        {
            "query": query.position,
            "query token": visible(query.token),
            "frame": query.frame + 1,
            "key": key.position,
            "key token": visible(key.token),
            "logical block": f"L{key.logical_block}",
            "physical block": f"P{key.block_id}",
            "kernel weight": attention.kernel[row, column],
            "dense weight": attention.dense[row, column],
            "difference": difference[row, column],
        }
        for row, query in enumerate(attention.queries)
        for column, key in enumerate(attention.keys[: query.context_length])
    )


def memory_table(trace: Trace) -> pd.DataFrame:
    """List memory frame by frame, in positions and in blocks.

    The columns of the reservation baseline are there only in a lesson that has it, and empty in a
    frame that does not show it.
    """
    story = memory_story(trace)
    table = pd.DataFrame(map(_row, story.moments))
    if story.compares:
        return table
    return table.drop(columns=["reserved in one piece", "stored in one piece"])


def _row(moment: Moment) -> dict[str, object]:
    reserved = moment.contiguous
    return {
        "frame": moment.number,
        "title": moment.title,
        "stored": moment.paged.stored,
        "allocated, empty": moment.paged.empty,
        "free": moment.paged.free,
        "blocks in use": moment.blocks_in_use,
        "free blocks": moment.free_blocks,
        "table entries": moment.table_entries,
        "reserved in one piece": None if reserved is None else reserved.allocated,
        "stored in one piece": None if reserved is None else reserved.stored,
    }
