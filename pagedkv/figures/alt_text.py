"""The figures in a sentence or two, computed from the same data, for who cannot see them."""

from collections.abc import Sequence

import numpy as np

from pagedkv.figures.attention_data import AttentionMap, Part, attention_map
from pagedkv.figures.memory_data import MemoryStory, Moment, memory_story
from pagedkv.figures.words import WORDS, kernel_words, say, say_count
from pagedkv.trace.frame import Trace
from pagedkv.trace.written import small


def attention_alt(trace: Trace, request: str, layer: int, head: int, part: Part) -> str:
    """Describe one attention map; raises ``ValueError`` as ``attention_figure`` does."""
    attention = attention_map(trace, request, layer, head)
    what = WORDS["dense"] if part == "dense" else kernel_words(trace.runtime.backend)
    chosen = say("chosen", request=request, layer=layer, head=head)
    size = {
        "queries": say_count("queries", len(attention.queries)),
        "keys": say_count("keys", len(attention.keys)),
        "blocks": say_count("blocks", len(attention.spans)),
    }
    if part == "difference":
        return say("alt_difference", chosen=chosen, **size, **_furthest_apart(attention))
    off = small(float(np.abs(attention.row_sums(part) - 1).max()))
    return say(
        "alt_weights", what=what, chosen=chosen, off=off, **size, **_last_query(attention, part)
    )


def _last_query(attention: AttentionMap, part: Part) -> dict[str, object]:
    """Where the last query looks most, and how much."""
    weights = attention.values(part)[-1, : attention.queries[-1].context_length]
    key = int(np.argmax(weights))
    query, key_position = attention.queries[-1].position, attention.keys[key].position
    return {"query": query, "key": key_position, "largest": f"{weights[key]:.2f}"}


def _furthest_apart(attention: AttentionMap) -> dict[str, object]:
    """Where kernel and dense reference differ most, and how much."""
    apart = np.where(attention.seen, np.abs(attention.difference), -1.0)
    row, column = np.unravel_index(np.argmax(apart), apart.shape)
    return {
        "query": attention.queries[row].position,
        "key": attention.keys[column].position,
        "largest": small(attention.largest_difference),
    }


def memory_alt(trace: Trace) -> str:
    """Describe the memory figure: what is stored and empty at first, at most and at last."""
    story = memory_story(trace)
    sentences = [_use(story)]
    if story.unusable:
        sentences.append(say("alt_unusable", positions=say_count("make", story.unusable)))
    if story.compares:
        sentences.append(_reserved(story.moments))
    if story.shares:
        sentences.append(_sharing(story.moments))
    return " ".join(sentences)


def _use(story: MemoryStory) -> str:
    first, last = story.moments[0].paged, story.moments[-1].paged
    return say(
        "alt_memory",
        frames=say_count("frames", len(story.moments)),
        capacity=story.capacity,
        blocks=say_count("blocks", story.num_blocks),
        block_size=story.block_size,
        first=first.stored,
        last=last.stored,
        most_stored=max(moment.paged.stored for moment in story.moments),
        most_empty=max(moment.paged.empty for moment in story.moments),
        least_free=min(moment.paged.free for moment in story.moments),
    )


def _reserved(moments: Sequence[Moment]) -> str:
    uses = [moment.contiguous for moment in moments if moment.contiguous is not None]
    most = max(uses, key=lambda use: use.allocated)
    return say("alt_contiguous", reserved=most.allocated, stored=most.stored, free=most.free)


def _sharing(moments: Sequence[Moment]) -> str:
    most = max(moments, key=lambda moment: moment.table_entries - moment.blocks_in_use)
    return say("alt_sharing", entries=most.table_entries, blocks=most.blocks_in_use)
