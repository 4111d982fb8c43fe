"""The attention of one request over a whole lesson, as a matrix: query positions × key positions.

What the figure draws, its alt text says and its table lists, all from here; no Plotly. Rows are the
query positions that attended in some frame, so a lesson that begins after a prompt was processed
has no row for it. Where a position attended in several frames, the last one counts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from pagedkv.trace.frame import AttentionView, Trace
from pagedkv.trace.participants import participants

Part = Literal["kernel", "dense", "difference"]
PARTS: tuple[Part, ...] = get_args(Part)

Matrix = npt.NDArray[np.float64]  # [num_queries, num_keys], NaN where masked
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class AttentionChoices:
    """What a learner can choose from: requests that attended, and every layer and head."""

    requests: tuple[str, ...]
    layers: tuple[int, ...]
    heads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A row: the query of ``position``, which saw ``context_length`` keys in frame ``frame``."""

    position: int
    token: str
    context_length: int
    frame: int


@dataclass(frozen=True, slots=True)
class Key:
    """A column: the key of ``position``, and the block in which the last query found it."""

    position: int
    token: str
    logical_block: int
    block_id: int


@dataclass(frozen=True, slots=True)
class BlockSpan:
    """``count`` columns from column ``first`` on whose keys lie in one block."""

    first: int
    count: int
    logical_block: int
    block_id: int


@dataclass(frozen=True, slots=True, eq=False)
class AttentionMap:
    """Weights of one request, layer and head; ``kernel`` and ``dense`` are [queries, keys]."""

    request: str
    layer: int
    head: int
    queries: tuple[Query, ...]
    keys: tuple[Key, ...]
    kernel: Matrix
    dense: Matrix

    @property
    def difference(self) -> Matrix:
        """Kernel minus dense reference, NaN where masked."""
        return self.kernel - self.dense

    @property
    def largest_difference(self) -> float:
        """The largest absolute difference of all cells; NaN if one of them is not a number."""
        return float(np.abs(self.difference)[self.seen].max())

    @property
    def seen(self) -> Bools:
        """Which keys each query attends to, [num_queries, num_keys]; the others are masked."""
        lengths = np.array([[query.context_length] for query in self.queries])
        return np.arange(len(self.keys)) < lengths

    def values(self, part: Part) -> Matrix:
        """Return the matrix of one part; ``ValueError`` names a part that there is not."""
        if part not in PARTS:
            raise ValueError(f"part is {part!r}; it must be one of {', '.join(PARTS)}")
        return {"kernel": self.kernel, "dense": self.dense, "difference": self.difference}[part]

    def row_sums(self, part: Part) -> npt.NDArray[np.float64]:
        """Sum each row of a part; rows of weights sum to 1."""
        return np.asarray(np.where(self.seen, self.values(part), 0.0).sum(axis=1))

    @property
    def spans(self) -> tuple[BlockSpan, ...]:
        """Columns by logical block."""
        return tuple(_spans(self.keys))


def attention_choices(trace: Trace) -> AttentionChoices:
    """Return what ``attention_map`` accepts for this trace; all empty if nothing attended."""
    views = [view for _, view in _views(trace)]
    attended = {view.request for view in views}
    return AttentionChoices(
        requests=tuple(name for name in participants(trace.frames) if name in attended),
        layers=tuple(sorted({view.layer for view in views})),
        heads=tuple(range(views[0].paged.shape[0])) if views else (),
    )


def attention_map(trace: Trace, request: str, layer: int, head: int) -> AttentionMap:
    """Collect the weights of one request, layer and head from all frames.

    Raises ``ValueError`` that names the argument, its value and what would be right, also where
    the trace holds no attention at all.
    """
    _check_choice(trace, request, layer, head)
    latest = {
        view.query_position: (frame, view)
        for frame, view in _views(trace)
        if view.request == request and view.layer == layer
    }
    rows = [latest[position] for position in sorted(latest)]
    views = [view for _, view in rows]
    tokens = _tokens(trace, request)
    return AttentionMap(
        request=request,
        layer=layer,
        head=head,
        queries=tuple(
            Query(view.query_position, tokens[view.query_position], view.context_length, frame)
            for frame, view in rows
        ),
        keys=_keys(views, tokens, trace.settings.block_size),
        kernel=_matrix([view.paged[head] for view in views]),
        dense=_matrix([view.dense[head] for view in views]),
    )


def _check_choice(trace: Trace, request: str, layer: int, head: int) -> None:
    choices = attention_choices(trace)
    if not choices.requests:
        raise ValueError(
            f"the trace of {trace.lesson!r} holds no attention: no request attended in its "
            f"{len(trace.frames)} frames; settings under which one is admitted would do"
        )
    offers = {"request": choices.requests, "layer": choices.layers, "head": choices.heads}
    for name, value in {"request": request, "layer": layer, "head": head}.items():
        if isinstance(value, bool) or value not in offers[name]:
            right = ", ".join(map(str, offers[name]))
            raise ValueError(f"{name} is {value!r}; it must be one of {right}")


def _views(trace: Trace) -> Iterator[tuple[int, AttentionView]]:
    """Every entry with its frame's index, in the order in which they happened."""
    for frame in trace.frames:
        for view in frame.attention or ():
            yield frame.index, view


def _tokens(trace: Trace, request: str) -> tuple[str, ...]:
    """Characters of the request by position; the longest it ever had, as contexts only grow."""
    held = [view.tokens for f in trace.frames for view in f.state.requests if view.name == request]
    return max(held, key=len)


def _keys(views: Sequence[AttentionView], tokens: Sequence[str], size: int) -> tuple[Key, ...]:
    """Describe each key; where its block changed, the query furthest on knows the latest one."""
    blocks: dict[int, int] = {}
    for view in views:
        blocks.update(enumerate(view.block_ids))
    return tuple(Key(p, tokens[p], p // size, blocks[p]) for p in sorted(blocks))


def _matrix(rows: Sequence[npt.NDArray[np.float32]]) -> Matrix:
    """Stack rows of different lengths; what a row does not have is NaN."""
    matrix = np.full((len(rows), max(map(len, rows))), np.nan)  # [num_queries, num_keys]
    for index, row in enumerate(rows):
        matrix[index, : len(row)] = row
    return matrix


def _spans(keys: Sequence[Key]) -> Iterator[BlockSpan]:
    for logical_block, group in groupby(keys, key=lambda key: key.logical_block):
        members = list(group)
        yield BlockSpan(members[0].position, len(members), logical_block, members[0].block_id)
