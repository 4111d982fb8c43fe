"""The scheduler's question before it gives memory, with the numbers that decide it.

It asks the cache and changes nothing. How long an answer may become is not among the
questions.
"""

from pagedkv.engine import Engine
from pagedkv.layout import empty_slots, split_position
from pagedkv.trace.frame import Check


def admission_check(engine: Engine, name: str, num_tokens: int) -> Check:
    """Would a new request with ``num_tokens`` inputs fit now?"""
    cache = engine.cache
    return Check(
        request=name,
        num_inputs=num_tokens,
        position=0,
        logical_block=0,
        offset=0,
        copies=0,
        empty_in_last_block=0,
        needed=cache.blocks_needed_to_admit(num_tokens),
        free=cache.num_free_blocks,
        fits=cache.can_admit(num_tokens),
    )


def append_check(engine: Engine, name: str) -> Check:
    """Is there a slot for a request's next input, or a free block to make one?"""
    cache = engine.cache
    position = cache.num_tokens(name)
    place = split_position(position, cache.block_size)
    empty = empty_slots(position, cache.block_size)
    needed = cache.blocks_needed_to_append(name)
    return Check(
        request=name,
        num_inputs=1,
        position=position,
        logical_block=place.logical_block,
        offset=place.offset,
        # A block is needed although there is an empty slot: it is for a copy.
        copies=needed if empty else 0,
        empty_in_last_block=empty,
        needed=needed,
        free=cache.num_free_blocks,
        fits=cache.can_append(name),
    )
