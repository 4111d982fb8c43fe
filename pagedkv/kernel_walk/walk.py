"""One program of the attention kernel, line by line: what it had in hand after each.

Every number is one that the kernel stored while it ran. Here they are only put beside the line that
made them: a value is known from the last line of the loop that assigns it; a running number keeps
what it was before until its own line is reached.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kernels import AttentionSteps
from pagedkv.kernel_walk.source import KernelSource, Statement, read_kernel

# The kernel's names for what it records.
FRESH = {"block": "block_ids", "k_slot": "addresses", "qk": "scores"}
RUNNING = {"m_i": "maximum", "l_i": "denominator", "acc": "accumulator"}
ANSWER = "out"


@dataclass(frozen=True, slots=True)
class Moment:
    """Just after ``statement`` ran, in ``tile`` (None outside the loop).

    ``positions`` of the tile that lie in the context. By position: ``block_ids``, ``addresses`` (in
    elements of ``k_cache``), ``scores`` (scaled, base 2). Running: ``maximum``, ``denominator``,
    ``accumulator`` [head_dim]. ``out`` [head_dim] is what was stored in the end. None is not known
    yet. ``new`` names what this statement made.
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
    out: tuple[float, ...] | None = None
    new: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Walk:
    """All moments of one program, and the source that they point into."""

    source: KernelSource
    moments: tuple[Moment, ...]

    @property
    def num_tiles(self) -> int:
        """How often the loop ran."""
        return sum(moment.statement is self.source.loop for moment in self.moments)

    def begin_of(self, tile: int) -> int:
        """The index of the moment in which the loop comes to ``tile``.

        Raises ValueError for a tile that it never came to.
        """
        for at, moment in enumerate(self.moments):
            if moment.tile == tile:
                return at
        raise ValueError(f"tile is {tile}; the loop ran for 0 to {self.num_tiles - 1}")


def walk(steps: AttentionSteps, row: int, head: int) -> Walk:
    """Walk the program that attended for ``row``, as query head ``head`` saw it.

    Raises ValueError for a row or head that the launch did not have, and for an empty context,
    which no program walks.
    """
    num_heads = steps.scores.shape[1]
    for name, value, count in (("row", row, len(steps.context_lens)), ("head", head, num_heads)):
        if not 0 <= value < count:
            raise ValueError(f"{name} is {value}; it must be from 0 to {count - 1}")
    if steps.context_lens[row] == 0:
        raise ValueError(f"row {row} has an empty context, so its program reads nothing")
    source = read_kernel(steps.constexprs)
    return Walk(source, tuple(_moments(source, _Record(steps, row, head))))


class _Record:
    """What one row and head's program recorded, tile by tile."""

    def __init__(self, steps: AttentionSteps, row: int, head: int) -> None:
        self._steps, self._row, self._head = steps, row, head
        group_size = steps.scores.shape[1] // steps.block_ids.shape[1]
        self._kv_head = head // group_size
        self._context_len = steps.context_lens[row]
        self.num_tiles = -(-self._context_len // steps.tile)

    def positions(self, tile: int) -> range:
        """The positions of the context that ``tile`` covers."""
        start = tile * self._steps.tile
        return range(start, min(start + self._steps.tile, self._context_len))

    def fresh(self, tile: int) -> dict[str, Any]:
        """What the kernel reads or makes anew in each tile."""
        at = slice(self.positions(tile).start, self.positions(tile).stop)
        return {
            "block_ids": tuple(self._steps.block_ids[self._row, self._kv_head, at].tolist()),
            "addresses": tuple(self._steps.addresses[self._row, self._kv_head, at].tolist()),
            "scores": tuple(self._steps.scores[self._row, self._head, at].tolist()),
        }

    def running(self, num_tiles: int) -> dict[str, Any]:
        """The running numbers as they stand after so many tiles."""
        place = self._row, self._head, num_tiles
        return {
            "maximum": float(self._steps.maxima[place]),
            "denominator": float(self._steps.denominators[place]),
            "accumulator": tuple(self._steps.accumulators[place].tolist()),
        }

    def answer(self) -> tuple[float, ...]:
        """What the program stored in the end, [head_dim]."""
        return tuple(self._steps.out[self._row, self._head].tolist())


def _moments(source: KernelSource, record: _Record) -> Iterator[Moment]:
    """Line by line; ``known`` grows as the lines are reached that make what it holds."""
    known: dict[str, Any] = {}
    at_first = record.running(0)
    for statement in source.before:
        new = frozenset(RUNNING[name] for name in statement.assigns & RUNNING.keys())
        known |= {name: at_first[name] for name in new}
        yield Moment(statement, None, range(0), new=new, **known)
    for tile in range(record.num_tiles):
        known = record.running(tile)
        yield Moment(source.loop, tile, record.positions(tile), **known)
        made = record.fresh(tile) | record.running(tile + 1)
        for at, statement in enumerate(source.body):
            new = frozenset(_made_for_good(source.body, at))
            known |= {name: made[name] for name in new}
            yield Moment(statement, tile, record.positions(tile), new=new, **known)
    known = record.running(record.num_tiles)
    for statement in source.after:
        new = statement.stores & {ANSWER}
        known |= {name: record.answer() for name in new}
        yield Moment(statement, None, range(0), new=new, **known)


def _made_for_good(body: Sequence[Statement], at: int) -> Iterator[str]:
    """What statement ``at`` assigns and no later one of the loop does, by the names of a moment."""
    later = frozenset[str]().union(*(statement.assigns for statement in body[at + 1 :]))
    for name, ours in (FRESH | RUNNING).items():
        if name in body[at].assigns - later:
            yield ours
