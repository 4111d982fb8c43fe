"""Every choice of the planner's page: its name in the address, its label, and what it may be.

A choice of words stands in the address in the words that the page shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from pagedkv.planner import MODELS, RANGES
from pagedkv.planner.choices import DTYPES, USUAL
from pagedkv.planner.geometry import CHANNEL_COUNTS, HEAD_COUNTS, LAYER_COUNTS, WINDOWS
from pagedkv.planner.memory import MOST_GIB

PREFIX = "plan_"

WholeOrEmpty = TypeVar("WholeOrEmpty", int, None)
MeasureOrEmpty = TypeVar("MeasureOrEmpty", float, None)


@dataclass(frozen=True, slots=True)
class Whole(Generic[WholeOrEmpty]):
    """A whole number from a range; ``usual`` is None for a field that may stay empty."""

    label: str
    allowed: range
    usual: WholeOrEmpty
    help: str | None = None


@dataclass(frozen=True, slots=True)
class Measure(Generic[MeasureOrEmpty]):
    """A number of GiB, or a share; ``usual`` is None for a field that may stay empty.

    Without a ``help`` it depends on other choices, and whoever draws the field says it.
    """

    label: str
    least: float
    most: float
    usual: MeasureOrEmpty
    step: float
    help: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words; ``words`` are what the page shows for each."""

    label: str
    words: Mapping[str, str]
    usual: str


TABLE, OWN = "table", "own"
HEADS, LATENT = "heads", "latent"
WHOLE_GPU, KV_ONLY = "gpu", "kv"
LEAST_GIB = 0.01

TITLES = {model.names[0]: model.title for model in MODELS}
DTYPE_WORDS = {str(size): f"{name}, {size} B" for size, name in DTYPES.items()}

WHOLES = {
    "layers": Whole("Layers", LAYER_COUNTS, 32),
    "kv_heads": Whole("KV heads", HEAD_COUNTS, 8),
    "head_dim": Whole("head_dim", CHANNEL_COUNTS, 128, "Numbers in a key, and in a value."),
    "rank": Whole("Latent rank", CHANNEL_COUNTS, 512),
    "rope": Whole("RoPE dim", CHANNEL_COUNTS, 64, "The rotated key beside the latent."),
    "windowed": Whole(
        "Windowed layers", range(LAYER_COUNTS[-1] + 1), 0, "Layers that see a window only."
    ),
    "tp": Whole("Tensor parallel", RANGES["tp"], USUAL["tp"], "GPUs that share the model."),
    "block_size": Whole(
        "Block size", RANGES["block_size"], USUAL["block_size"], "Positions in a block."
    ),
    "max_len": Whole(
        "Maximum length", RANGES["max_len"], USUAL["max_len"], "Prompt and answer together."
    ),
    "batched": Whole(
        "Batched tokens",
        RANGES["batched_tokens"],
        USUAL["batched_tokens"],
        "vLLM's max_num_batched_tokens: windowed layers hold so many positions beside the window.",
    ),
}
OPTIONAL_WHOLES = {
    "v_head_dim": Whole(
        "Value dim", CHANNEL_COUNTS, None, "Where a value is not as long as a key."
    ),
    "num_heads": Whole(
        "Query heads",
        HEAD_COUNTS,
        None,
        "For the comparison with MHA, and for which GPUs can share them.",
    ),
    "window": Whole("Window", WINDOWS, None, "Positions that those layers see."),
}
MEASURES = {
    "gpu": Measure("GPU, GiB", LEAST_GIB, MOST_GIB, 80.0, 8.0, "Memory of each GPU."),
    "share": Measure(
        "Utilization",
        0.01,
        1.0,
        0.9,
        0.01,
        "vLLM's gpu_memory_utilization: a share of the whole memory, not of what is free.",
    ),
    "overhead": Measure(
        "Overhead, GiB", 0.0, MOST_GIB, 2.0, 0.5, "Activations at their peak, graphs, the rest."
    ),
    "kv": Measure("For KV, GiB", LEAST_GIB, MOST_GIB, 10.0, 1.0, "On each GPU."),
}
OPTIONAL_MEASURES = {
    "weights": Measure("Weights, GiB", 0.0, MOST_GIB, None, 1.0),
}
CHOICES = {
    "source": Choice("Model", {TABLE: "From the table", OWN: "Your own"}, TABLE),
    "model": Choice("Name", TITLES, "llama-3.1-8b"),
    "kind": Choice("Kept for each position", {HEADS: "K and V", LATENT: "A latent (MLA)"}, HEADS),
    "memory": Choice("Memory", {WHOLE_GPU: "The whole GPU", KV_ONLY: "KV alone"}, WHOLE_GPU),
    "dtype": Choice("Numbers in the cache", DTYPE_WORDS, str(USUAL["dtype_bytes"])),
}

AnyWhole = Whole[int] | Whole[None]
AnyMeasure = Measure[float] | Measure[None]
FIELDS: dict[str, AnyWhole | AnyMeasure | Choice] = {
    **CHOICES,
    **WHOLES,
    **OPTIONAL_WHOLES,
    **MEASURES,
    **OPTIONAL_MEASURES,
}


# What the page calls the values that the planner names.
LABELS = {
    value: FIELDS[name].label
    for value, name in {
        **{name: name for name in ("layers", "kv_heads", "head_dim", "v_head_dim", "num_heads")},
        **{name: name for name in ("window", "tp", "block_size", "max_len")},
        **{"windowed_layers": "windowed", "mla_rank": "rank", "rope_dim": "rope"},
        **{"dtype_bytes": "dtype", "batched_tokens": "batched"},
        **{"gpu_gib": "gpu", "utilization": "share", "weights_gib": "weights"},
        **{"overhead_gib": "overhead", "kv_gib": "kv"},
    }.items()
}


def key(name: str) -> str:
    """The field's name in the address and in the session."""
    return f"{PREFIX}{name}"
