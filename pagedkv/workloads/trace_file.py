"""Read a trace file: recognise its format, check every row, and make a workload of it.

A file is data and nothing else: CSV and JSON are taken apart, and three numbers of each row are
kept. Whatever is wrong is told with its line; a row is left out only if that was asked for.
"""

from array import array
from dataclasses import dataclass, field

import numpy as np

from pagedkv.workloads.messages import counted, cut
from pagedkv.workloads.trace_formats import TraceFormat, whole_tokens
from pagedkv.workloads.trace_lines import LARGEST_FILE, TraceError, require_text
from pagedkv.workloads.trace_order import out_of_order
from pagedkv.workloads.trace_rows import Rows, Values, recognise
from pagedkv.workloads.workload import Workload

__all__ = ["LARGEST_FILE", "MOST_KEPT", "MOST_TOLD", "ReadTrace", "TraceError", "read_trace"]

MOST_TOLD = 5  # bad rows that a refusal tells one by one
MOST_KEPT = 100  # whose words are kept
CLOCK_DECIMALS = 6  # of a second; a difference of two times has no more that are true


@dataclass(frozen=True, slots=True)
class ReadTrace:
    """What a file was read as. ``left_out`` tells the first of the rows that were, by line."""

    workload: Workload
    format: TraceFormat
    num_left_out: int
    left_out: tuple[str, ...]


@dataclass(slots=True)
class _Good:
    """Rows whose three values can be, as columns [rows]: small, for 50 MB have millions."""

    lines: "array[int]" = field(default_factory=lambda: array("q"))
    arrivals: "array[float]" = field(default_factory=lambda: array("d"))  # seconds
    inputs: "array[int]" = field(default_factory=lambda: array("q"))
    outputs: "array[int]" = field(default_factory=lambda: array("q"))


@dataclass(slots=True)
class _Bad:
    """How many rows are bad, and the words for the first of them by line."""

    count: int = 0
    words: dict[int, str] = field(default_factory=dict)

    def add(self, line: int, words: str) -> None:
        self.count += 1
        if len(self.words) < MOST_KEPT:
            self.words[line] = words


def read_trace(name: str, data: bytes, *, skip_bad_rows: bool = False) -> ReadTrace:
    """Read a file's bytes; ``name`` is what the workload is called.

    Raises ``TraceError`` for what is no trace at all, and for bad rows unless they are to be
    skipped. Arrivals are counted from the first row, to a microsecond, and must not go back in
    time: the fewest rows without which they do not are bad (``trace_order``).
    """
    require_text(data)
    rows = recognise(data)
    good, bad = _checked(rows)
    wrong = out_of_order(good.arrivals)
    num_good, num_bad = len(good.lines) - len(wrong), bad.count + len(wrong)
    told = sorted({**bad.words, **_order_words(rows, good, wrong[:MOST_KEPT])}.items())
    words = tuple(f"line {line}: {what}" for line, what in told[:MOST_KEPT])
    if num_bad and not skip_bad_rows:
        complaint = _complaint(words, num_bad, num_good, len(wrong))
        raise TraceError(complaint, num_bad if num_good else 0)
    if not num_good:
        raise TraceError(
            "the file has no row that can be read" if bad.count else "the file has no rows"
        )
    in_order = np.ones(len(good.lines), bool)
    in_order[[row for row, _ in wrong]] = False
    arrivals, inputs, outputs = (
        np.array(column)[in_order] for column in (good.arrivals, good.inputs, good.outputs)
    )
    since_first = np.round(arrivals - arrivals[0], CLOCK_DECIMALS)
    workload = Workload(name, since_first, inputs, outputs)
    return ReadTrace(workload, rows.format, num_bad, words)


def _checked(rows: Rows) -> tuple[_Good, _Bad]:
    """The rows whose values can be, whatever their order, and those whose values cannot."""
    good, bad = _Good(), _Bad()
    for line, values in rows.walk():
        if isinstance(values, str):
            bad.add(line, values)
            continue
        try:
            arrival, inputs, outputs = _numbers(rows.format, values)
        except ValueError as error:
            bad.add(line, str(error))
            continue
        good.lines.append(line)
        good.arrivals.append(arrival)
        good.inputs.append(inputs)
        good.outputs.append(outputs)
    return good, bad


def _numbers(form: TraceFormat, values: Values) -> tuple[float, int, int]:
    """Arrival, inputs and outputs of a row; ValueError says what is wrong with it."""
    column, value = form.arrival, values[0]
    try:
        arrival = form.seconds(value)
        column, value = form.inputs, values[1]
        inputs = whole_tokens(value)
        column, value = form.outputs, values[2]
        return arrival, inputs, form.answered(value)
    except ValueError as error:
        raise ValueError(f"{column} is {cut(value)}; it {error}") from None


def _order_words(rows: Rows, good: _Good, wrong: list[tuple[int, int]]) -> dict[int, str]:
    """What to say of rows out of order, by line. Their values are looked up in the file again."""
    others = {good.lines[row]: (row, other) for row, other in wrong}
    words: dict[int, str] = {}
    for line, values in rows.walk() if others else ():
        if line in others:
            row, other = others[line]
            seconds = good.arrivals[other] - good.arrivals[row]
            by = f"{abs(seconds):,g} s {'earlier' if seconds > 0 else 'later'}"
            than = f"{by} than line {good.lines[other]}"
            words[line] = f"{rows.format.arrival} is {cut(values[0])}, {than}"
            if len(words) == len(others):
                break
    return words


def _complaint(words: tuple[str, ...], num_bad: int, num_good: int, num_wrong: int) -> str:
    verb = "is" if num_bad == 1 else "are"
    more = f" (and {num_bad - MOST_TOLD:,} more)" if num_bad > MOST_TOLD else ""
    told = (
        f"{counted(num_bad, 'row')} {verb} bad, {num_good:,} good: {'; '.join(words[:MOST_TOLD])}"
    )
    sort = f". {num_wrong:,} stand out of order: sort the file by arrival" if num_wrong > 1 else ""
    return f"{told}{more}{sort}"
