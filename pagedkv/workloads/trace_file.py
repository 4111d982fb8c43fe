"""Read a trace file: recognise its format, check every row, and make a workload of it.

A file is data and nothing else: CSV and JSON are taken apart, and three numbers of each row are
kept. Whatever is wrong is told with its line; a row is left out only if that was asked for.
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np

from pagedkv.workloads.shown import cut
from pagedkv.workloads.trace_formats import FORMATS, TraceFormat, whole_tokens
from pagedkv.workloads.workload import Workload, WorkloadError

LARGEST_FILE = 50_000_000  # bytes
MOST_TOLD = 5  # bad rows that a refusal tells one by one
MOST_KEPT = 100  # whose words are kept

Row = tuple[int, dict[str, Any] | str]  # line number, and fields by column or what is wrong


class TraceError(WorkloadError):
    """A file cannot be read as a trace. ``num_bad_rows`` is 0 unless leaving rows out would do."""

    def __init__(self, message: str, num_bad_rows: int = 0) -> None:
        super().__init__(message)
        self.num_bad_rows = num_bad_rows


@dataclass(frozen=True, slots=True)
class ReadTrace:
    """What a file was read as. ``left_out`` tells the first of the rows that were, by line."""

    workload: Workload
    format: TraceFormat
    num_left_out: int
    left_out: tuple[str, ...]


def read_trace(name: str, data: bytes, *, skip_bad_rows: bool = False) -> ReadTrace:
    """Read a file's bytes; ``name`` is what the workload is called.

    Raises ``TraceError`` for what is no trace at all, and for bad rows unless they are to be
    skipped. Arrivals are counted from the first row, and must not go back in time.
    """
    text = _text(data)
    form, rows = _rows(text)
    good: list[tuple[float, int, int]] = []
    bad: list[str] = []
    num_bad = 0
    for line, fields in rows:
        try:
            good.append(_checked(form, fields, good[-1][0] if good else None))
        except ValueError as error:
            num_bad += 1
            if num_bad <= MOST_KEPT:
                bad.append(f"line {line}: {error}")
    if num_bad and not skip_bad_rows:
        raise TraceError(_complaint(bad, num_bad, len(good)), num_bad if good else 0)
    if not good:
        raise TraceError("the file has no row that can be read" if bad else "the file has no rows")
    arrivals, inputs, outputs = (np.array(column) for column in zip(*good, strict=True))
    workload = Workload(name, arrivals - arrivals[0], inputs, outputs)
    return ReadTrace(workload, form, num_bad, tuple(bad))


def _text(data: bytes) -> str:
    if len(data) > LARGEST_FILE:
        raise TraceError(
            f"the file has {len(data) / 1e6:.1f} MB; it must have at most {LARGEST_FILE // 10**6}"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TraceError(
            f"the file is not UTF-8 text (byte {error.start + 1} is {data[error.start]:#04x})"
        ) from None
    if not text.strip():
        raise TraceError("the file is empty")
    return text


def _rows(text: str) -> tuple[TraceFormat, Iterator[Row]]:
    """Tell the format by its first line, and walk along the rows."""
    if text.lstrip()[0] in "{[":
        objects = (row for _, row in _json_rows(text) if isinstance(row, dict))
        first = next(objects, None)
        columns = [cut(text.lstrip()[:30])] if first is None else list(first)
        return _recognised(columns, is_jsonl=True), _json_rows(text)
    reader = csv.reader(StringIO(text, newline=""))
    try:
        header = next(fields for fields in reader if any(fields))
    except csv.Error as error:
        raise TraceError(f"line {reader.line_num}: {error}") from None
    columns = [column.strip() for column in header]
    return _recognised(columns, is_jsonl=False), _csv_rows(reader, columns)


def _recognised(columns: list[str], is_jsonl: bool) -> TraceFormat:
    for form in FORMATS:
        if form.is_jsonl == is_jsonl and set(form.columns) <= set(columns):
            return form
    kind = "JSONL" if is_jsonl else "CSV"
    known = "; ".join(
        f"{f.name}: {', '.join(f.columns)}" for f in FORMATS if f.is_jsonl == is_jsonl
    )
    found = cut(", ".join(columns), 80)
    raise TraceError(f"the columns {found} are of no known {kind} trace; one has ({known})")


def _csv_rows(reader: Any, columns: list[str]) -> Iterator[Row]:
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield reader.line_num, f"is no CSV ({error})"
            continue
        if len(fields) == len(columns):
            yield reader.line_num, dict(zip(columns, fields, strict=True))
        elif any(fields):
            yield reader.line_num, f"has {len(fields)} fields; the header has {len(columns)}"


def _json_rows(text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            yield number, f"is no JSON: {cut(line.strip())}"
            continue
        yield number, row if isinstance(row, dict) else f"is no JSON object: {cut(line.strip())}"


def _checked(
    form: TraceFormat, fields: dict[str, Any] | str, before: float | None
) -> tuple[float, int, int]:
    """Arrival, inputs and outputs of a row; ValueError says what is wrong with it."""
    if isinstance(fields, str):
        raise ValueError(fields)
    values: list[Any] = []
    for column, reads in zip(form.columns, (form.seconds, whole_tokens, whole_tokens), strict=True):
        if column not in fields:
            raise ValueError(f"{column} is missing")
        try:
            values.append(reads(fields[column]))
        except ValueError as error:
            raise ValueError(f"{column} is {cut(fields[column])}; it {error}") from None
    arrival, inputs, outputs = values
    if before is not None and arrival < before:
        earlier = f"{before - arrival:g} s earlier than the row before"
        raise ValueError(f"{form.arrival} is {cut(fields[form.arrival])}, {earlier}")
    return arrival, inputs, outputs


def _complaint(bad: list[str], num_bad: int, num_good: int) -> str:
    rows = "1 row is" if num_bad == 1 else f"{num_bad} rows are"
    more = f" (and {num_bad - MOST_TOLD} more)" if num_bad > MOST_TOLD else ""
    return f"{rows} bad, {num_good} good: {'; '.join(bad[:MOST_TOLD])}{more}"
