"""What is planned for, chosen beside the results: every change works the plan out anew."""

import streamlit as st

from pagedkv.planner import Choices, GpuMemory, KvMemory, PlanError
from pagedkv.planner.memory import weights_on_each
from pages._plan_fields import WHOLE_GPU
from pages._plan_model import choose_model
from pages._plan_widgets import (
    from_list,
    one_of,
    optional_measure,
    required_measure,
    required_whole,
)

NO_WEIGHTS = "weights_gib is empty; how large the weights are must be said for this model"


def choose() -> Choices:
    """Draw all fields; raises ``PlanError`` once they are drawn, for what cannot be planned."""
    model = choose_model()
    with st.container(horizontal=True, gap="small"):
        tp, max_len = required_whole("tp"), required_whole("max_len")
        block_size = required_whole("block_size")
        batched = {"batched_tokens": required_whole("batched")} if model.has_window else {}
    dtype_bytes = int(from_list("dtype"))
    memory = _memory(model.all_weights_gib, tp)
    geometry = model.geometry()
    if memory is None:
        raise PlanError(NO_WEIGHTS)
    return Choices(geometry, memory, dtype_bytes, tp, block_size, max_len, **batched)


def _memory(all_weights: float | None, tp: int) -> GpuMemory | KvMemory | None:
    """The memory of a GPU; None where the weights are neither given nor known."""
    if one_of("memory") != WHOLE_GPU:
        return KvMemory(required_measure("kv"))
    counted = None if all_weights is None else weights_on_each(all_weights, tp)
    with st.container(horizontal=True, gap="small"):
        total, share = required_measure("gpu"), required_measure("share")
        weights = optional_measure("weights", "needed" if counted is None else f"{counted:.2f}")
        overhead = required_measure("overhead")
    weights = counted if weights is None else weights
    return None if weights is None else GpuMemory(total, share, weights, overhead)
