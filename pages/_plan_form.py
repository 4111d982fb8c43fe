"""What is planned for, chosen beside the results: every change works the plan out anew."""

from dataclasses import dataclass

import streamlit as st

from pagedkv.planner import Choices, GpuMemory, KvMemory
from pagedkv.planner.memory import weights_on_each
from pagedkv.planner.model_table import WEIGHT_BYTES
from pages._plan_fields import WHOLE_GPU
from pages._plan_model import choose_model
from pages._plan_widgets import (
    from_list,
    one_of,
    optional_measure,
    required_measure,
    required_whole,
)

COUNTED = f"On each GPU. Empty: {WEIGHT_BYTES} bytes a parameter."
ASKED_FOR = "On each GPU. How many parameters the model has is not known here."


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is planned for; where it ``lacks_weights`` they count as none until they are said."""

    choices: Choices
    lacks_weights: bool


def choose() -> Chosen:
    """Draw all fields; raises ``PlanError`` once they are drawn, for what cannot be planned."""
    model = choose_model()
    with st.container(horizontal=True, gap="small"):
        tp, max_len = required_whole("tp"), required_whole("max_len")
        block_size = required_whole("block_size")
        batched = {"batched_tokens": required_whole("batched")} if model.has_window else {}
    dtype_bytes = int(from_list("dtype"))
    memory, lacks_weights = _memory(model.all_weights_gib, tp)
    choices = Choices(model.geometry(), memory, dtype_bytes, tp, block_size, max_len, **batched)
    return Chosen(choices, lacks_weights)


def _memory(all_weights: float | None, tp: int) -> tuple[GpuMemory | KvMemory, bool]:
    """The memory of a GPU, and whether its weights are neither given nor known."""
    if one_of("memory") != WHOLE_GPU:
        return KvMemory(required_measure("kv")), False
    counted = None if all_weights is None else weights_on_each(all_weights, tp)
    with st.container(horizontal=True, gap="small"):
        total, share = required_measure("gpu"), required_measure("share")
        if counted is None:
            weights = optional_measure("weights", "needed", ASKED_FOR)
        else:
            weights = optional_measure("weights", f"{counted:.2f}", COUNTED)
        overhead = required_measure("overhead")
    weights = counted if weights is None else weights
    return GpuMemory(total, share, weights or 0.0, overhead), weights is None
