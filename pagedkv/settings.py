"""What a learner may choose: four numbers, their ranges, and what follows from them.

``Settings`` is hashable, so it is its own cache key; the same settings always give the same trace.
"""

from dataclasses import dataclass, fields

from pagedkv.checks import named
from pagedkv.layout import pool_size
from pagedkv.model.prompts import LONGEST_PROMPT

RANGES: dict[str, range] = {
    "block_size": range(1, 33),
    "capacity": range(4, 257),
    "prompt_length": range(1, LONGEST_PROMPT + 1),
    "seed": range(2**31),
}


class SettingsError(ValueError):
    """A setting is not a whole number within its range; the message names both."""


@dataclass(frozen=True, slots=True)
class Settings:
    """One choice of the numbers that a lesson runs with.

    ``block_size`` in slots, ``capacity`` and ``prompt_length`` in positions. No lesson
    samples, so ``seed`` changes nothing yet. Raises ``SettingsError`` for what ``RANGES`` lacks.
    """

    block_size: int = 4
    capacity: int = 24
    prompt_length: int = 6
    seed: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            check_setting(field.name, getattr(self, field.name))

    @property
    def num_blocks(self) -> int:
        """Whole blocks that fit into the capacity."""
        return pool_size(self.capacity, self.block_size).num_blocks

    @property
    def unusable_slots(self) -> int:
        """Positions left over that make no whole block."""
        return pool_size(self.capacity, self.block_size).unusable_slots


def check_setting(name: str, value: object) -> None:
    """Raise ``SettingsError`` unless setting ``name`` allows ``value``."""
    allowed = RANGES[name]
    if isinstance(value, bool) or not isinstance(value, int) or value not in allowed:
        raise SettingsError(
            f"{name} is {named(value)}; "
            f"it must be a whole number from {allowed[0]} to {allowed[-1]}"
        )
