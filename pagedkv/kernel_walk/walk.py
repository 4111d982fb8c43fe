"""One program of the attention kernel, line by line: what it had in hand after each.

Every number is one that the kernel stored while it ran. Here they are only put beside the line that
made them: a value is known from the last line of the loop that assigns it; a running number keeps
what the tile before left until its own line is reached.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kernels import AttentionSteps
from pagedkv.kernel_walk.source import KernelSource, Statement, read_kernel

# The kernel's names for what it records.
FRESH = {"block": "block_ids", "k_slot": "addresses", "qk": "scores"}
RUNNING = {"m_i": "maximum", "l_i": "denominator", "acc": "accumulator"}


@dataclass(frozen=True, slots=True)
class Moment:
    """Just after ``statement`` ran, in ``tile`` (None outside the loop).

    ``positions`` of the tile that lie in the context. By position: ``block_ids``, ``addresses`` (in
    elements of ``k_cache``), ``scores`` (scaled, base 2). Running: ``maximum``, ``denominator``,
    ``accumulator`` [head_dim]. None is not known yet. ``new`` names what this statement made.
    """

    statement: Statement
    tile: int | None
    positions: range
    block_ids: tuple[int, ...] | None = None
    addresses: tuple[int, ...] | None = None
    scores: tuple[float, ...] | None = None
    maximum: float | None = None
    denominator: float | None = None
    accumulator: tuple[float, ...] | None = None
    new: frozenset[str] = frozenset()


def walk(steps: AttentionSteps, row: int, head: int, context_len: int) -> tuple[Moment, ...]:
    """All moments of the program that attended for ``row``, as query head ``head`` saw them.

    ``context_len`` positions belong to the row. Raises ValueError for a row or head that the launch
    did not have, and for an empty context, which no program walks.
    """
    rows, num_heads, longest = steps.scores.shape
    for name, value, most in (("row", row, rows - 1), ("head", head, num_heads - 1)):
        if not 0 <= value <= most:
            raise ValueError(f"{name} is {value}; it must be from 0 to {most}")
    if not 0 < context_len <= longest:
        raise ValueError(f"context_len is {context_len}; it must be from 1 to {longest}")
    source = read_kernel(steps.constexprs)
    moments = [Moment(statement, None, range(0)) for statement in source.before]
    record = _Record(steps, row, head, context_len)
    for tile in range(record.num_tiles):
        moments.append(record.moment(source, tile, -1))
        moments += (record.moment(source, tile, at) for at in range(len(source.body)))
    last = record.running(record.num_tiles - 1)
    moments += (Moment(statement, None, range(0), **last) for statement in source.after)
    return tuple(moments)


def next_tile(moments: Sequence[Moment], at: int) -> int:
    """Where the next tile after ``at`` begins; the last moment where there is none."""
    begins = (
        i
        for i in range(at + 1, len(moments))
        if moments[i].tile is not None and moments[i].tile != moments[i - 1].tile
    )
    return next(begins, len(moments) - 1)


class _Record:
    """What one row and head's program recorded, tile by tile."""

    def __init__(self, steps: AttentionSteps, row: int, head: int, context_len: int) -> None:
        self._steps, self._row, self._head = steps, row, head
        self._context_len = context_len
        group_size = steps.scores.shape[1] // steps.block_ids.shape[1]
        self._kv_head = head // group_size
        self.num_tiles = -(-context_len // steps.tile)

    def moment(self, source: KernelSource, tile: int, at: int) -> Moment:
        """After statement ``at`` of the loop's body, or its head (-1), in ``tile``."""
        made = {name: _last_assignment(source, name) for name in (*FRESH, *RUNNING)}
        known: dict[str, Any] = {}
        for name, value in self.fresh(tile).items():
            if at >= made[name]:
                known[FRESH[name]] = value
        before = self.running(tile - 1) if tile else {}
        now = self.running(tile)
        for name, key in RUNNING.items():
            known[key] = now[key] if at >= made[name] else before.get(key)
        names = FRESH | RUNNING
        new = frozenset(names[name] for name, place in made.items() if place == at)
        statement = source.loop if at < 0 else source.body[at]
        return Moment(statement, tile, self.positions(tile), new=new, **known)

    def positions(self, tile: int) -> range:
        """The positions of the context that ``tile`` covers."""
        start = tile * self._steps.tile
        return range(start, min(start + self._steps.tile, self._context_len))

    def fresh(self, tile: int) -> dict[str, tuple[float, ...]]:
        """What the kernel reads or makes anew in each tile, by the kernel's names."""
        at = slice(self.positions(tile).start, self.positions(tile).stop)
        return {
            "block": tuple(self._steps.block_ids[self._row, self._kv_head, at].tolist()),
            "k_slot": tuple(self._steps.addresses[self._row, self._kv_head, at].tolist()),
            "qk": tuple(self._steps.scores[self._row, self._head, at].tolist()),
        }

    def running(self, tile: int) -> dict[str, Any]:
        """The running numbers as they stand after ``tile``."""
        place = self._row, self._head, tile
        return {
            "maximum": float(self._steps.maxima[place]),
            "denominator": float(self._steps.denominators[place]),
            "accumulator": tuple(self._steps.accumulators[place].tolist()),
        }


def _last_assignment(source: KernelSource, name: str) -> int:
    return max(i for i, statement in enumerate(source.body) if name in statement.assigns)
