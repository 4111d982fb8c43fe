"""How many requests fit into a GPU: blocks, positions and lengths, counted as vLLM counts them.

Arithmetic alone: no tensor, no engine, nothing of the course's own pool. ``Choices`` say what is
planned for, ``plan`` works it out, ``steps`` shows each line of it.
"""

from pagedkv.planner.advice import advice_words, verdict_words
from pagedkv.planner.checking import PlanError
from pagedkv.planner.choices import RANGES, Choices
from pagedkv.planner.config_file import LARGEST_CONFIG, read_config
from pagedkv.planner.geometry import Geometry, Latent
from pagedkv.planner.memory import GpuMemory, KvMemory
from pagedkv.planner.model_table import MODELS, Model, find_model
from pagedkv.planner.plan import Plan, plan
from pagedkv.planner.steps import Step, steps

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
    "plan",
    "read_config",
    "steps",
    "verdict_words",
]
