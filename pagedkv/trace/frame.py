"""A frame: one moment the player can stop at. A trace: all frames of one lesson run.

Frames hold plain Python values and read-only numpy arrays, never torch tensors; everything a
learner sees is a pure function of (trace, index).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pagedkv.events import Event
from pagedkv.settings import Settings
from pagedkv.trace.state import ContiguousView, State

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fact:
    """A value that a caption cites, and the path in the frame or config where it stands."""

    value: int | float | str
    path: str


@dataclass(frozen=True, slots=True)
class Check:
    """What the engine asked before giving memory: blocks needed now, blocks free, the answer.

    ``num_inputs`` positions are to get slots, the first of them ``position``, which belongs into
    ``logical_block`` at ``offset``; ``empty_in_last_block`` of them at most fit into what the
    request already holds. ``copies`` counts shared blocks to be copied before the write.
    """

    request: str
    num_inputs: int
    position: int
    logical_block: int
    offset: int
    copies: int
    empty_in_last_block: int
    needed: int
    free: int
    fits: bool


@dataclass(frozen=True, slots=True)
class InputCount:
    """How many positions of one request an execution processes, and where the first one goes."""

    request: str
    num_tokens: int
    first_position: int
    first_offset: int  # of its slot, within its block


@dataclass(frozen=True, slots=True)
class ExecutionView:
    """One run of the model: inputs per request, their sum, and the budget that it must keep."""

    inputs: tuple[InputCount, ...]
    num_tokens: int
    token_budget: int


@dataclass(frozen=True, slots=True)
class LookupView:
    """Where a stored position lies, as arithmetic, and how far its K and V are from the dense copy.

    Errors are the largest absolute difference over all layers, KV heads and channels.
    """

    request: str
    position: int
    logical_block: int
    offset: int
    block_id: int
    flat_slot: int
    max_abs_error_k: float
    max_abs_error_v: float


@dataclass(frozen=True, slots=True, eq=False)
class AttentionView:
    """One query position in one layer: weights from the kernel, and from the dense reference."""

    request: str
    query_position: int
    context_length: int
    layer: int
    block_ids: tuple[int, ...]  # the physical block of each position attended to
    positions_per_block: tuple[int, ...]  # read from each block, in logical order
    paged: Floats  # [num_heads, context_length]
    dense: Doubles  # [num_heads, context_length]
    max_abs_error_weights: float
    max_abs_error_output: float
    skipped_blocks: tuple[int, ...]  # in use, but not in this request's table
    skipped_slots: int  # in its own blocks, past the context length


@dataclass(frozen=True, slots=True)
class WorkedScore:
    """One attention weight worked out from the kernel's own inputs.

    ``score = dot * scale``; ``weight = exp(score - max_score) / denominator``; all from the query
    of ``query_position`` and the key of ``key_position`` in the pool, in float64.
    """

    request: str
    layer: int
    head: int
    kv_head: int
    query_position: int
    key_position: int
    block_id: int
    offset: int
    dot: float
    scale: float
    score: float
    max_score: float
    denominator: float
    weight: float
    kernel_weight: float


@dataclass(frozen=True, slots=True)
class LayerDifference:
    """Largest absolute difference of K and of V between two runs, in one layer."""

    layer: int
    max_abs_k: float
    max_abs_v: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same character at the same position after two different beginnings."""

    position: int
    token: str
    prompts: tuple[str, str]
    layers: tuple[LayerDifference, ...]


@dataclass(frozen=True, slots=True)
class WhatIfCell:
    """A slot on the what-if strip: what lies there, and for whom it would be a mistake.

    ``wanted_by`` names the requests that would read or write it; ``wrong`` marks the slot where
    the supposition fails. An imagined block has no id, for those are the board's: ``imagined``
    says instead whose logical block would be there.
    """

    block_id: int | None
    offset: int
    state: str
    owners: tuple[str, ...]
    position: int | None
    token: str | None
    wanted_by: tuple[str, ...]
    wanted_position: int | None
    wanted_tokens: tuple[str, ...]
    wrong: bool
    imagined: str | None = None

    @property
    def block_label(self) -> str:
        """What to write at the block that this slot is in."""
        return self.imagined or f"P{self.block_id}"


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A supposition drawn on a strip of its own; never part of ``state``.

    ``title`` states the supposition without its "if", ``text`` says what would go wrong, with
    ``facts`` as in a caption. ``num_wrong`` counts the cells where it fails.
    """

    kind: str
    request: str
    title: str
    text: str
    facts: tuple[Fact, ...]
    cells: tuple[WhatIfCell, ...]
    num_wrong: int


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One moment of a lesson. ``events`` are what happened since the frame before."""

    index: int
    title: str
    caption: str
    facts: tuple[Fact, ...]
    events: tuple[Event, ...]
    state: State
    contiguous: ContiguousView | None
    lookup: tuple[LookupView, ...] | None
    what_if: WhatIf | None
    attention: tuple[AttentionView, ...] | None
    check: Check | None
    execution: ExecutionView | None
    worked_score: WorkedScore | None
    comparison: Comparison | None
    vector_ids: tuple[tuple[int | None, ...], ...]  # per block and slot, an index into the vectors


@dataclass(frozen=True, slots=True)
class Runtime:
    """Which device and code produced the numbers, and which model."""

    device: str
    backend: str
    gpu: str | None
    model: str


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A lesson run: settings, frames, and the K and V vectors that the slots held.

    ``vectors`` is [n, 2 (K, V), layers, num_kv_heads, head_dim]; equal vectors stand once, and
    ``layers`` says which of the model's layers they are of: those that were watched.
    ``infeasible`` says in words why these settings cannot show the lesson's point, or is None.
    """

    lesson: str
    figure: int | None
    settings: Settings
    runtime: Runtime
    infeasible: str | None
    frames: tuple[Frame, ...]
    layers: tuple[int, ...]
    vectors: Floats
