"""A trace as plain data: dictionaries, lists, numbers and strings, ready for JSON.

The keys are the field names of the frozen types, so the types are the documentation. Three things
differ: an event carries its type's name, the settings appear as ``config`` with what follows from
them, and two things stay out: the K and V vectors (they are for pointing at slots, and large), and
where a request's prompt ends (it is for the heading of its tokens on the board).
"""

import math
from dataclasses import fields, is_dataclass
from typing import Any, get_args

import numpy as np

from pagedkv.events import Event
from pagedkv.settings import Settings
from pagedkv.trace.frame import Trace

_NOT_WRITTEN = {"vector_ids", "prompt_length"}


def trace_to_dict(trace: Trace) -> dict[str, Any]:
    """The whole trace (DESIGN §7), finite numbers only."""
    return {
        "lesson": trace.lesson,
        "figure": trace.figure,
        "config": config_to_dict(trace.settings),
        "runtime": to_plain(trace.runtime),
        "infeasible": trace.infeasible,
        "frames": [to_plain(frame) for frame in trace.frames],
    }


def config_to_dict(settings: Settings) -> dict[str, int]:
    """The settings, and what follows from them."""
    return {
        "block_size": settings.block_size,
        "capacity": settings.capacity,
        "num_blocks": settings.num_blocks,
        "unusable_slots": settings.unusable_slots,
        "prompt_length": settings.prompt_length,
        "seed": settings.seed,
    }


def to_plain(value: Any) -> Any:
    """Any value of a trace as plain data. A float that is not finite becomes None."""
    if is_dataclass(value) and not isinstance(value, type):
        plain = {
            field.name: to_plain(getattr(value, field.name))
            for field in fields(value)
            if field.name not in _NOT_WRITTEN
        }
        if isinstance(value, get_args(Event)):
            return {"type": type(value).__name__, **plain}
        return plain
    if isinstance(value, np.ndarray):
        return to_plain(value.tolist())
    if isinstance(value, tuple | list):
        return [to_plain(element) for element in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
