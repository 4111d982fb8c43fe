"""The K and V that slots really hold, each distinct vector once.

Pointing at a slot on the board shows its numbers. They are read from the pool frame by frame; since
most slots keep theirs from frame to frame, a frame only holds an index a slot.
"""

import numpy as np

from pagedkv.cache import PagedKVCache
from pagedkv.language_model import Sizes
from pagedkv.layout import flat_slot
from pagedkv.slot_history import SlotHistory
from pagedkv.trace.frame import Floats


class VectorStore:
    """Collects vectors [2 (K, V), num_layers, num_kv_heads, head_dim] and numbers them."""

    def __init__(self) -> None:
        self._ids: dict[bytes, int] = {}
        self._vectors: list[Floats] = []

    def take(self, cache: PagedKVCache, history: SlotHistory) -> tuple[tuple[int | None, ...], ...]:
        """Number what every written slot holds now, by block and offset.

        Slots that were never written have None.
        """
        config = cache.config
        # each [num_layers, num_blocks, block_size, num_kv_heads, head_dim]
        pools = [pool.float().cpu().numpy() for pool in (cache.k_cache, cache.v_cache)]

        def number(block_id: int, offset: int) -> int | None:
            if history.content(flat_slot(block_id, offset, config.block_size)) is None:
                return None
            return self._number(np.stack([pool[:, block_id, offset] for pool in pools]))

        return tuple(
            tuple(number(block_id, offset) for offset in range(config.block_size))
            for block_id in range(config.num_blocks)
        )

    def stacked(self, model: Sizes) -> Floats:
        """All vectors, [n, 2, num_layers, num_kv_heads, head_dim] float32, read-only."""
        shape = (2, model.num_layers, model.num_kv_heads, model.head_dim)
        stacked = np.stack(self._vectors) if self._vectors else np.empty((0, *shape), np.float32)
        stacked.setflags(write=False)
        return stacked

    def _number(self, vector: Floats) -> int:
        key = vector.tobytes()
        if key not in self._ids:
            self._ids[key] = len(self._vectors)
            self._vectors.append(vector)
        return self._ids[key]
