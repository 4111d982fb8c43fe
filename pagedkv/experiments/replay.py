"""Do again, in a pool of one's own, what the cache did in memory: for faults in what is written.

Every write and copy since the start is repeated, in order, with the K and V that the model made.
Done right it ends in the real pool, bit for bit. A fault changes an event on the way.
"""

from collections.abc import Iterable

import torch

import kernels
from pagedkv.events import SlotsWritten
from pagedkv.experiments.scene import MemoryEvent, Pools, Scene


def replay(scene: Scene, memory_events: Iterable[MemoryEvent]) -> Pools:
    """The layer's pool after these writes and copies, one after the other.

    Of two writes into one slot the later one stays; a write to slot -1 is skipped, as the kernel
    does.
    """
    pools = scene.at_start.clone()
    for event in memory_events:
        if isinstance(event, SlotsWritten):
            _write(scene, pools, event)
        else:
            kernels.copy_blocks(pools.k, pools.v, [(event.source, event.destination)])
    return pools


def _write(scene: Scene, pools: Pools, event: SlotsWritten) -> None:
    """Put K and V of the event's positions into its slots."""
    reference, positions = scene.engine.reference, list(event.positions)
    key, value = (
        of_request(event.request, scene.layer)[positions].to(pools.k)  # float32 once, so exact
        for of_request in (reference.keys, reference.values)
    )  # each [positions, num_kv_heads, head_dim]
    slots = torch.tensor(event.slots, dtype=torch.int64, device=pools.k.device)
    kernels.write_slots(key, value, pools.k, pools.v, slots)
