"""A moment of the walk as HTML: the lines around the one that ran, and what the program holds.

Every text is escaped, also the source's own. Colours are shades of the page's text colour, so that
both themes are served.
"""

from collections.abc import Iterable, Sequence
from html import escape
from math import isfinite

from pagedkv.kernel_walk.source import KernelSource
from pagedkv.kernel_walk.walk import Moment
from pagedkv.trace.written import visible

LINES_AROUND = 8  # of the line that ran, before and after: what a projector shows legibly
HUGE = 1e6  # and more have no room for all their digits


def source_html(source: KernelSource, moment: Moment, around: int = LINES_AROUND) -> str:
    """The lines around the statement that has just run, that statement marked by ``ran``."""
    first, last = moment.statement.first, moment.statement.last
    height = 2 * around + 1
    end = source.first_line + len(source.lines)
    top = max(min((first + last) // 2 - around, end - height), source.first_line)
    rows = [
        f'<span class="{"ran" if first <= number <= last else "line"}">'
        f"<b>{number:>4}</b> {escape(source.lines[number - source.first_line])}\n</span>"
        for number in range(top, min(top + height, end))
    ]
    return f'<pre class="kernel-source">{"".join(rows)}</pre>'


def state_html(moment: Moment, text: str) -> str:
    """What the program holds: the tile position by position, then the running numbers."""
    tables = f"{_tile(moment, text)}{_running(moment)}"
    return (  # a wide table scrolls, so the keyboard must reach it
        f'<div class="kernel-state" tabindex="0" role="region" aria-label="State">{tables}</div>'
    )


def _tile(moment: Moment, text: str) -> str:
    if moment.tile is None:
        return ""
    columns = (
        ("position", [str(position) for position in moment.positions], False),
        ("token", [visible(text[position]) for position in moment.positions], False),
        ("block id", _written(moment.block_ids), "block_ids" in moment.new),
        ("address of K, in elements", _written(moment.addresses), "addresses" in moment.new),
        ("score · log₂ e", _written(moment.scores), "scores" in moment.new),
    )
    rows = [
        _row(name, values or ["·"] * len(moment.positions), is_new)
        for name, values, is_new in columns
    ]
    return f"<table>{''.join(rows)}</table>"


def _running(moment: Moment) -> str:
    accumulator = moment.accumulator
    named = (
        ("running maximum", "maximum", _written(_one(moment.maximum))),
        ("running denominator", "denominator", _written(_one(moment.denominator))),
        ("accumulator", "accumulator", _written(accumulator)),
        ("output", "out", _written(moment.out)),
    )
    rows = [
        _row(label, [" ".join(values) if values else "·"], key in moment.new)
        for label, key, values in named
    ]
    return f"<table>{''.join(rows)}</table>"


def _one(value: float | None) -> tuple[float, ...] | None:
    return None if value is None else (value,)


def _written(values: Sequence[float] | None) -> list[str]:
    """Each number; nothing if they are not known yet."""
    return [_number(value) for value in values or ()]


def _number(value: float) -> str:
    """Ids and addresses as they are, other numbers to three places, huge ones as a power of ten."""
    if isinstance(value, int):
        return str(value)
    is_huge = isfinite(value) and abs(value) >= HUGE
    return (f"{value:.1e}" if is_huge else f"{value:.3f}").replace("-", "−")


def _row(name: str, values: Iterable[str], is_new: bool) -> str:
    cells = "".join(f"<td>{escape(value)}</td>" for value in values)
    return (
        f'<tr class="{"new" if is_new else "kept"}"><th scope="row">{escape(name)}</th>{cells}</tr>'
    )
