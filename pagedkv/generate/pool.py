"""How large a pool a generation needs, and that pool as the settings of a trace."""

from dataclasses import dataclass

from pagedkv.checks import require_whole_number
from pagedkv.layout import blocks_needed
from pagedkv.settings import Settings


@dataclass(frozen=True, slots=True)
class PoolSettings(Settings):
    """Settings of a pool that is made to measure: beyond the ranges that a lesson offers."""

    def __post_init__(self) -> None:
        require_whole_number("block_size", self.block_size, least=1)
        require_whole_number("capacity", self.capacity, least=0)
        require_whole_number("prompt_length", self.prompt_length, least=1)
        require_whole_number("seed", self.seed, least=0)


def most_blocks(num_prompt: int, num_answers: int, length: int, block_size: int) -> int:
    """Count the blocks that all answers hold together at their end, when they hold most.

    Full blocks of the prompt stay shared. From the first one that is not full every answer has its
    own, if it writes at all: of ``length`` new tokens the last is chosen and never processed.

    >>> most_blocks(6, 2, 1, 4), most_blocks(6, 2, 2, 4), most_blocks(8, 2, 2, 4)
    (2, 3, 4)
    """
    if length == 1:
        return blocks_needed(num_prompt, block_size)
    shared = num_prompt // block_size
    of_one = blocks_needed(num_prompt + length - 1, block_size)
    return shared + num_answers * (of_one - shared)
