"""Every choice of the planner's page: its name in the address, what it may be, and its widget.

The widgets are bound to the address: Streamlit writes it, reads it, and takes only what a widget
can hold. A choice of words stands there in the words that the page shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from pagedkv.planner import MODELS, RANGES
from pagedkv.planner.choices import DTYPES, USUAL
from pagedkv.planner.geometry import MOST_CHANNELS, MOST_HEADS, MOST_LAYERS, WINDOWS
from pagedkv.planner.memory import MOST_GIB

PREFIX = "plan_"
WIDTH = 140  # pixels of a number: three of them stand beside each other


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from a range; ``usual`` may be None, for a field that may stay empty."""

    label: str
    allowed: range
    usual: int | None
    help: str | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of GiB, or a share; ``usual`` may be None, for a field that may stay empty."""

    label: str
    least: float
    most: float
    usual: float | None
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

FIELDS: dict[str, Whole | Measure | Choice] = {
    "source": Choice("Model", {TABLE: "From the table", OWN: "Your own"}, TABLE),
    "model": Choice("Name", TITLES, "llama-3.1-8b"),
    "kind": Choice("Kept for each position", {HEADS: "K and V", LATENT: "A latent (MLA)"}, HEADS),
    "layers": Whole("Layers", MOST_LAYERS, 32),
    "kv_heads": Whole("KV heads", MOST_HEADS, 8),
    "head_dim": Whole("head_dim", MOST_CHANNELS, 128, "Numbers in a key, and in a value."),
    "v_head_dim": Whole("Value dim", MOST_CHANNELS, None, "Where a value is not as long as a key."),
    "num_heads": Whole(
        "Query heads",
        MOST_HEADS,
        None,
        "For the comparison with MHA, and for which GPUs can share them.",
    ),
    "rank": Whole("Latent rank", MOST_CHANNELS, 512),
    "rope": Whole("RoPE dim", MOST_CHANNELS, 64, "The rotated key beside the latent."),
    "windowed": Whole(
        "Windowed layers", range(MOST_LAYERS[-1] + 1), 0, "Layers that see a window only."
    ),
    "window": Whole("Window", WINDOWS, None, "Positions that those layers see."),
    "memory": Choice("Memory", {WHOLE_GPU: "The whole GPU", KV_ONLY: "KV alone"}, WHOLE_GPU),
    "gpu": Measure("GPU, GiB", LEAST_GIB, MOST_GIB, 80.0, 8.0, "Memory of each GPU."),
    "share": Measure(
        "Utilization",
        0.01,
        1.0,
        0.9,
        0.01,
        "vLLM's gpu_memory_utilization: a share of the whole memory, not of what is free.",
    ),
    "weights": Measure(
        "Weights, GiB", 0.0, MOST_GIB, None, 1.0, "On each GPU. Empty: 2 bytes a parameter."
    ),
    "overhead": Measure(
        "Overhead, GiB", 0.0, MOST_GIB, 2.0, 0.5, "Activations at their peak, graphs, the rest."
    ),
    "kv": Measure("For KV, GiB", LEAST_GIB, MOST_GIB, 10.0, 1.0, "On each GPU."),
    "dtype": Choice("Numbers in the cache", DTYPE_WORDS, str(USUAL["dtype_bytes"])),
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


def key(name: str) -> str:
    """The field's name in the address and in the session."""
    return f"{PREFIX}{name}"


def whole(name: str) -> int | None:
    """Draw a whole number; None where it is empty."""
    field = FIELDS[name]
    assert isinstance(field, Whole)
    value = st.number_input(
        field.label,
        field.allowed[0],
        field.allowed[-1],
        field.usual,
        key=key(name),
        help=field.help,
        width=WIDTH,
        placeholder="none" if field.usual is None else None,
        bind="query-params",
        persist_state="session",
    )
    return None if value is None else int(value)


def number(name: str) -> int:
    """Draw a whole number that is never empty."""
    value = whole(name)
    field = FIELDS[name]
    assert isinstance(field, Whole) and field.usual is not None
    return field.usual if value is None else value


def measure(name: str, placeholder: str | None = None) -> float | None:
    """Draw a number; None where it is empty."""
    field = FIELDS[name]
    assert isinstance(field, Measure)
    value = st.number_input(
        field.label,
        field.least,
        field.most,
        field.usual,
        field.step,
        format="%.2f",
        key=key(name),
        help=field.help,
        width=WIDTH,
        placeholder=placeholder,
        bind="query-params",
        persist_state="session",
    )
    return None if value is None else float(value)


def gib(name: str) -> float:
    """Draw a number that is never empty."""
    value = measure(name)
    field = FIELDS[name]
    assert isinstance(field, Measure) and field.usual is not None
    return field.usual if value is None else value


def one_of(name: str) -> str:
    """Draw a few words to choose from, beside each other."""
    field = FIELDS[name]
    assert isinstance(field, Choice)
    return st.segmented_control(
        field.label,
        list(field.words),
        format_func=field.words.__getitem__,
        default=field.usual,
        required=True,
        key=key(name),
        bind="query-params",
        persist_state="session",
    )


def from_list(name: str) -> str:
    """Draw a list to choose from."""
    field = FIELDS[name]
    assert isinstance(field, Choice)
    options = list(field.words)
    return st.selectbox(
        field.label,
        options,
        options.index(field.usual),
        format_func=field.words.__getitem__,
        key=key(name),
        bind="query-params",
        persist_state="session",
    )
