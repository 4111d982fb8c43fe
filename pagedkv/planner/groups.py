"""Layers in groups of equal size, as vLLM forms them, and the blocks that a request needs in each.

Layers of one kind share a block table. Where full and windowed layers meet, all groups draw equal
blocks from one pool, so all are made of equally many layers. After vLLM's ``kv_cache_utils.py``
(``_get_kv_cache_groups_uniform_page_size``) and ``kv_cache_interface.py``
(``max_memory_usage_bytes``); ``docs/sources.md`` names the version.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pagedkv.planner.geometry import Geometry

NEARLY_EQUAL = 1.5  # below this ratio vLLM pads the smaller kind instead of splitting the larger


@dataclass(frozen=True, slots=True)
class Group:
    """``layers`` that share a block table; with a ``window`` they see only so many positions."""

    layers: int
    window: int | None


def ceil_div(number: int, by: int) -> int:
    """How many times ``by`` it takes to reach ``number``."""
    return -(-number // by)


def groups_of(geometry: Geometry) -> tuple[Group, ...]:
    """The groups of a model: one if all layers are of a kind."""
    kinds = [(geometry.full_layers, None), (geometry.windowed_layers, geometry.window)]
    kinds = [(count, window) for count, window in kinds if count]
    if len(kinds) == 1:
        return (Group(*kinds[0]),)
    size = group_size_of([count for count, _ in kinds])
    return tuple(
        Group(layers, window)
        for count, window in kinds
        for layers in _split(count, ceil_div(count, size))
    )


def group_size_of(counts: Sequence[int]) -> int:
    """Layers in a group: as many as the rarest kind has, or the commonest if they are near.

    >>> group_size_of([5, 29]), group_size_of([12, 13])
    (5, 13)
    """
    least, most = min(counts), max(counts)
    return most if most < least * NEARLY_EQUAL else least


def _split(count: int, parts: int) -> list[int]:
    """``count`` layers dealt out to ``parts`` groups in turn."""
    return [ceil_div(count - part, parts) for part in range(parts)]


def most_seen(window: int, batched_tokens: int) -> int:
    """Positions of a request that a windowed layer holds at most: its window and a step."""
    return window - 1 + batched_tokens


def seen_at_once(group: Group, length: int, batched_tokens: int) -> int:
    """Positions of a request of ``length`` that the group must hold at the same time.

    A windowed layer holds the last ``window`` - 1 positions and those being processed.
    """
    if group.window is None:
        return length
    return min(most_seen(group.window, batched_tokens), length)


def blocks_needed(group: Group, length: int, block_size: int, batched_tokens: int) -> int:
    """Blocks that a request of ``length`` needs in this group.

    One more for a window, which need not begin where a block does.
    """
    blocks = ceil_div(seen_at_once(group, length, batched_tokens), block_size)
    return blocks if group.window is None else blocks + 1
