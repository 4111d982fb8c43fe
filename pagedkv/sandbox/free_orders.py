"""In which order a session's pool gives its blocks."""

from pagedkv.block_manager import BlockManager
from pagedkv.sandbox.script import FreeOrder

_EARLIER = ("E1", "E2", "E3")
_THEY_ENDED = ("E2", "E3", "E1")


def free_order_of(order: FreeOrder, num_blocks: int) -> tuple[int, ...]:
    """Block ids in the order in which they will be given.

    "scattered" is earned, not set: three earlier requests grew in turns until the pool was full,
    and ended in another order than they began. The manager itself says what that leaves.

    >>> free_order_of("scattered", 6)
    (0, 3, 2, 5, 1, 4)
    """
    manager = BlockManager(num_blocks, block_size=1)
    if order == "scattered":
        for block in range(num_blocks):
            name = _EARLIER[block % len(_EARLIER)]
            if name in manager.requests:
                manager.append(name)
            else:
                manager.admit(name, 1)
        for name in _THEY_ENDED:
            if name in manager.requests:
                manager.free(name)
    return manager.free_blocks
