"""How many requests fit into a GPU: blocks, positions and lengths, counted as vLLM counts them.

Arithmetic alone: no tensor, no engine, nothing of the course's own pool. ``Choices`` say what is
planned for, ``make_plan`` works it out, ``make_steps`` shows each line of it.
"""

from pagedkv.planner.advice import advice_words, verdict_words
from pagedkv.planner.caveats import note_words, warning_words
from pagedkv.planner.checking import PlanError
from pagedkv.planner.choices import RANGES, Choices
from pagedkv.planner.config_file import LARGEST_CONFIG, read_config
from pagedkv.planner.geometry import Geometry, Latent
from pagedkv.planner.memory import GpuMemory, KvMemory
from pagedkv.planner.model_table import MODELS, Model, find_model
from pagedkv.planner.plan import Plan, make_plan
from pagedkv.planner.steps import Step, make_steps, steps_without_memory

__all__ = [
    "LARGEST_CONFIG",
    "MODELS",
    "RANGES",
    "Choices",
    "Geometry",
    "GpuMemory",
    "KvMemory",
    "Latent",
    "Model",
    "Plan",
    "PlanError",
    "Step",
    "advice_words",
    "find_model",
    "make_plan",
    "make_steps",
    "note_words",
    "read_config",
    "steps_without_memory",
    "verdict_words",
    "warning_words",
]
