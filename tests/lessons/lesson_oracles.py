"""Which settings can show each lesson's point: DESIGN §8 in plain arithmetic.

``n`` is the prompt length, ``b`` the block size; nothing of the project is called. A prompt takes
``ceil(n / b)`` blocks, and a request that grows takes its next block when a position has no slot.
"""

from collections.abc import Callable

LONGEST_ANSWER = 14  # positions that B declares beyond its prompt


def ceil_div(n: int, b: int) -> int:
    return (n + b - 1) // b


def reserve_or_allocate(b: int, capacity: int, n: int) -> bool:
    """B does not fit contiguously, or C does, or C is refused when paged."""
    left_beside_b = capacity - (n + LONGEST_ANSWER)
    c_is_refused_paged = 2 * ceil_div(n, b) > capacity // b
    return left_beside_b < 0 or n <= left_beside_b or c_is_refused_paged


def block_table(b: int, capacity: int, n: int) -> bool:
    """B, with the input that it processes beside C, or C is refused."""
    return ceil_div(n + 1, b) + ceil_div(n, b) > capacity // b


def growth(b: int, capacity: int, n: int) -> bool:
    """B is refused before its new block is stored; C, where it fits, holds blocks meanwhile."""
    prompt_blocks, total = ceil_div(n, b), capacity // b
    held_by_c = prompt_blocks if 2 * prompt_blocks <= total else 0
    return prompt_blocks > total or ceil_div(n + 1, b) + 1 + held_by_c > total


def shared_prefix(b: int, capacity: int, n: int) -> bool:
    """The copied half does not fit."""
    return 2 * ceil_div(n, b) > capacity // b


def copy_on_write(b: int, capacity: int, n: int) -> bool:
    """The prompt fills its last block, or no block is free for the copy."""
    return n % b == 0 or ceil_div(n, b) + 1 > capacity // b


def freeing(b: int, capacity: int, n: int) -> bool:
    """Anything refused: the prompt, a copy, or a new block each after a full one."""
    new_blocks = 2 if n % b == 0 else 1
    return ceil_div(n, b) + new_blocks > capacity // b


CANNOT_SHOW: dict[str, Callable[[int, int, int], bool]] = {
    "reserve-or-allocate": reserve_or_allocate,
    "block-table": block_table,
    "growth": growth,
    "scattered-attention": growth,
    "shared-prefix": shared_prefix,
    "copy-on-write": copy_on_write,
    "freeing": freeing,
}
