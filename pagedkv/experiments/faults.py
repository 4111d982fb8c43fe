"""What a fault is, and how one is judged: by the dense reference, against the same query.

A fault only prepares a read: other numbers for the kernel, or a pool of its own in which something
was written wrongly. Nothing is patched, the scene stays as it was, and faults of several visitors
can run side by side.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

from pagedkv.experiments.judging import (
    Weights,
    as_array,
    output_difference,
    weight_difference,
    widened,
)
from pagedkv.experiments.reports import Report
from pagedkv.experiments.scene import REQUEST, Pools, Scene
from pagedkv.trace.errors import agree


@dataclass(frozen=True, slots=True, eq=False)
class FaultyRead:
    """What the kernel is given instead, and ``account``: what went wrong here, in a sentence.

    ``pools`` may have more KV heads than the real one, up to one a query head. If the fault can do
    nothing here, the read is as it should be and ``account`` says why.
    """

    pools: Pools
    table: tuple[int, ...]
    context_len: int
    account: str


@dataclass(frozen=True, slots=True)
class Fault:
    """One documented kind of fault; ``apply`` prepares the read that it leads to."""

    slug: str
    title: str
    explanation: str
    report: Report
    apply: Callable[[Scene], FaultyRead] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class FaultResult:
    """The right attention beside the faulty one, for B's last query.

    ``text`` has a character for each of B's positions. ``right_weights`` are the dense reference's
    (float64), ``faulty_weights`` the kernel's (float32), both [num_heads, positions] and 0 where a
    side has no such position. Differences may be NaN. ``misread`` [num_heads, positions] bool tells
    for which query head the K or V read at a position were not B's own; a position left out, or one
    too many, is misread by every head.
    """

    fault: Fault
    block_size: int
    layer: int
    text: str
    account: str
    right_table: tuple[int, ...]
    faulty_table: tuple[int, ...]
    right_context_len: int
    faulty_context_len: int
    right_weights: Weights
    faulty_weights: Weights
    weight_difference: float
    output_difference: float
    misread: npt.NDArray[np.bool_]

    @property
    def wrong_positions(self) -> tuple[int, ...]:
        """Positions whose K or V any head misread, ascending."""
        return tuple(np.flatnonzero(self.misread.any(axis=0)).tolist())

    @property
    def wrong_heads(self) -> tuple[int, ...]:
        """Query heads that misread K or V anywhere, ascending."""
        return tuple(np.flatnonzero(self.misread.any(axis=1)).tolist())

    @property
    def has_effect(self) -> bool:
        """Whether anything was misread; where nothing was, ``account`` says why."""
        return bool(self.misread.any())

    @property
    def dense_agrees(self) -> bool:
        """Whether the dense reference has nothing to object to, neither weights nor outputs."""
        return agree([self.weight_difference, self.output_difference])

    @property
    def dense_objects(self) -> bool:
        """Whether weights or outputs are too far from the dense reference's, or NaN."""
        return not self.dense_agrees


def run_fault(scene: Scene, fault: Fault) -> FaultResult:
    """Attend as the fault has it, and let the dense reference judge."""
    read = fault.apply(scene)
    faulty = scene.attend(read.pools, read.table, read.context_len)
    width = max(scene.context_len, read.context_len)
    return FaultResult(
        fault=fault,
        block_size=scene.block_size,
        layer=scene.layer,
        text=scene.engine.text(REQUEST),
        account=read.account,
        right_table=scene.table,
        faulty_table=read.table,
        right_context_len=scene.context_len,
        faulty_context_len=read.context_len,
        right_weights=as_array(widened(scene.dense.weights, width)),
        faulty_weights=as_array(widened(faulty.weights, width)),
        weight_difference=weight_difference(faulty, scene.dense),
        output_difference=output_difference(faulty, scene.dense),
        misread=as_array(wrong_reads(scene, read).T),
    )


def as_it_should_be(scene: Scene, account: str) -> FaultyRead:
    """The read without a fault: the control, and what a fault comes to where it can do nothing."""
    return FaultyRead(scene.pools, scene.table, scene.context_len, account)


def wrong_reads(scene: Scene, read: FaultyRead) -> torch.Tensor:
    """Where the K or V read are not those of the dense reference: [positions, num_heads] bool.

    A position that is read and should not be, or the other way round, is wrong for every head.
    """
    num_heads = len(scene.query)
    reference = scene.engine.reference
    own = Pools(reference.keys(REQUEST, scene.layer), reference.values(REQUEST, scene.layer))
    got = _gathered(read, scene.block_size)
    both = min(scene.context_len, read.context_len)
    wrong = torch.ones(max(scene.context_len, read.context_len), num_heads, dtype=torch.bool)
    wrong[:both] = False
    for right, other in ((own.k, got.k), (own.v, got.v)):
        pair = (x[:both].repeat_interleave(num_heads // x.shape[1], dim=1) for x in (right, other))
        one, two = pair  # each [both, num_heads, head_dim]
        wrong[:both] |= ~(one == two).all(dim=2)  # NaN equals nothing
    return wrong


def _gathered(read: FaultyRead, block_size: int) -> Pools:
    """What lies where the kernel reads, in the order of positions: [n, KV heads, head_dim]."""
    positions = torch.arange(read.context_len)
    blocks = torch.tensor(read.table)[positions // block_size]
    offsets = positions % block_size
    return Pools(*(x.cpu()[blocks, offsets].double() for x in (read.pools.k, read.pools.v)))
