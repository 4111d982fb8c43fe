"""RoPE stretched to contexts longer than those of the first training, as a config may ask for.

Every pair of channels turns by `position * frequency`. Beyond the positions of the training, slow
pairs would reach angles that they never had; so frequencies are lowered. Two ways are built here:

- *linear*: all of them, by one factor, as if positions stood closer (Chen et al. 2023, "Extending
  Context Window of Large Language Models via Positional Interpolation", section 3.2).
- *llama3*: only the slow ones, those that turn a few times over the whole original context, as
  released with Llama 3.1. Formula and field names as in the documentation of Hugging Face's
  `transformers` ("Utilities for Rotary Embedding", `rope_type` "llama3"), and of vLLM's
  `Llama3RotaryEmbedding`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from pagedkv.checks import is_whole_number, named


@dataclass(frozen=True, slots=True)
class LinearScaling:
    """All frequencies divided by `factor`, 1 or more."""

    factor: float

    def __call__(self, frequency: Tensor) -> Tensor:
        """Map frequencies in radians a position, of any shape, to the lowered ones."""
        return frequency / self.factor


@dataclass(frozen=True, slots=True)
class Llama3Scaling:
    """Frequencies divided by `factor` where a pair turns slowly, and left alone where fast.

    What counts is how many times a pair turns within `original_context` positions: at most
    `low_turns`, and its frequency is divided; `high_turns` or more, and it stays; between the two
    it is mixed, in proportion.
    """

    factor: float
    low_turns: float
    high_turns: float
    original_context: int

    def __call__(self, frequency: Tensor) -> Tensor:
        """Map frequencies in radians a position, of any shape, to the lowered ones."""
        turns = self.original_context * frequency / (2 * math.pi)
        kept = ((turns - self.low_turns) / (self.high_turns - self.low_turns)).clamp(0, 1)
        return kept * frequency + (1 - kept) * frequency / self.factor


RopeScaling = LinearScaling | Llama3Scaling


def scaling_from(name: str, fields: Mapping[str, Any]) -> RopeScaling | None:
    """The scaling that a config's object `name` asks for with its `fields`; None if for none.

    Raises ValueError naming field and value for a type that is not built here, and for numbers that
    are missing or make no sense.
    """
    kind = fields.get("rope_type", fields.get("type", "default"))
    read = _KINDS.get(kind) if isinstance(kind, str) else None
    if read is None:
        known = ", ".join(map(repr, _KINDS))
        raise ValueError(f"{name} asks for RoPE of the type {named(kind)}; supported are {known}")
    return read(name, fields)


def _unscaled(_name: str, _fields: Mapping[str, Any]) -> None:
    return None


def _linear(name: str, fields: Mapping[str, Any]) -> LinearScaling:
    return LinearScaling(_number(name, fields, "factor", least=1))


def _llama3(name: str, fields: Mapping[str, Any]) -> Llama3Scaling:
    low = _number(name, fields, "low_freq_factor", least=0)
    high = _number(name, fields, "high_freq_factor", least=0)
    if high <= low:
        raise ValueError(
            f"{name}: high_freq_factor is {high:g}; it must be above low_freq_factor {low:g}"
        )
    context = fields.get("original_max_position_embeddings")
    if not isinstance(context, int) or not is_whole_number(context) or not 1 <= context < 1e9:
        raise ValueError(
            f"{name}: original_max_position_embeddings is {named(context)}; it must be a whole "
            "number from 1 on"
        )
    return Llama3Scaling(_number(name, fields, "factor", least=1), low, high, context)


_KINDS: Mapping[str, Callable[[str, Mapping[str, Any]], RopeScaling | None]] = {
    "default": _unscaled,
    "linear": _linear,
    "llama3": _llama3,
}


def _number(name: str, fields: Mapping[str, Any], field: str, *, least: float) -> float:
    value = fields.get(field)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value < 1e9:  # type: ignore[operator]
        raise ValueError(
            f"{name}: {field} is {named(value)}; it must be a number of at least {least:g}"
        )
    return float(value)  # type: ignore[arg-type]
