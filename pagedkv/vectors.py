"""The K and V that slots really hold, each distinct vector once.

Pointing at a slot on the board shows its numbers. They are read from the pool frame by frame; since
most slots keep theirs from frame to frame, a frame only holds an index a slot.
"""

from collections.abc import Sequence

import numpy as np
import torch

from pagedkv.cache import CacheConfig, PagedKVCache
from pagedkv.layout import flat_slot
from pagedkv.slot_history import SlotHistory
from pagedkv.trace.frame import Floats


class VectorStore:
    """Collects vectors [2 (K, V), layers, num_kv_heads, head_dim] of some layers; numbers them."""

    def __init__(self, layers: Sequence[int]) -> None:
        self.layers = tuple(layers)
        self._ids: dict[bytes, int] = {}
        self._vectors: list[Floats] = []

    def __deepcopy__(self, _: object) -> "VectorStore":
        """Another store that goes on from here; what is collected never changes and is shared."""
        twin = VectorStore(self.layers)
        twin._ids, twin._vectors = dict(self._ids), list(self._vectors)
        return twin

    def take(self, cache: PagedKVCache, history: SlotHistory) -> tuple[tuple[int | None, ...], ...]:
        """Number what every written slot holds now, by block and offset.

        Slots that were never written have None.
        """
        config = cache.config
        pools = [pool[list(self.layers)].float().cpu() for pool in (cache.k_cache, cache.v_cache)]
        # [num_blocks, block_size, 2, layers, num_kv_heads, head_dim]
        slots = torch.stack(pools).permute(2, 3, 0, 1, 4, 5).contiguous().numpy()

        def number(block_id: int, offset: int) -> int | None:
            if history.content(flat_slot(block_id, offset, config.block_size)) is None:
                return None
            return self._number(slots[block_id, offset])

        return tuple(
            tuple(number(block_id, offset) for offset in range(config.block_size))
            for block_id in range(config.num_blocks)
        )

    def stacked(self, config: CacheConfig) -> Floats:
        """All vectors, [n, 2, layers, num_kv_heads, head_dim] float32, read-only."""
        shape = (2, len(self.layers), config.num_kv_heads, config.head_dim)
        stacked = np.stack(self._vectors) if self._vectors else np.empty((0, *shape), np.float32)
        stacked.setflags(write=False)
        return stacked

    def _number(self, vector: Floats) -> int:
        key = vector.tobytes()
        if key not in self._ids:
            self._ids[key] = len(self._vectors)
            self._vectors.append(vector.copy())  # of its own, for it is part of a whole pool
        return self._ids[key]
