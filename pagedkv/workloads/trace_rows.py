"""Recognise a trace's format by its columns, and walk along its rows.

A row stands in one line, whatever is wrong with it: a quote that nobody closes ends with its line,
so that line numbers are right and no other row is lost.
"""

import csv
import json
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pagedkv.workloads.messages import counted, cut
from pagedkv.workloads.trace_formats import FORMATS, TraceFormat, column_names
from pagedkv.workloads.trace_lines import Line, TraceError, numbered_lines

FIRST_ROWS = 100  # of JSONL, of which one must have all columns for a format to be recognised
BLANKS = " \t\ufeff"  # a byte-order mark stands in the middle where files were joined
SHORT_LINE = 100_000  # characters; no field in it can be too long for Python's csv
OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}

Values = tuple[Any, Any, Any]  # arrival, inputs and outputs as the file writes them
Row = tuple[int, Values | str]  # line number, and the values or what is wrong


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a file with a known format; each ``walk`` begins with the first of them."""

    format: TraceFormat
    data: bytes

    def walk(self) -> Iterator[Row]:
        """Every row, by line."""
        lines = numbered_lines(self.data)
        return (_json_rows if self.format.is_jsonl else _csv_rows)(lines, self.format)


def recognise(data: bytes) -> Rows:
    """Tell the format by a CSV's first line, or by the first JSON objects that have its columns.

    Raises ``TraceError`` if no format fits, or if a column that is needed stands twice in a header.
    """
    head = list(islice(numbered_lines(data), FIRST_ROWS))
    number, first = head[0]
    header = _csv_fields(first)
    form = None if isinstance(header, str) else _known(header, is_jsonl=False)
    if form is not None:
        for column in form.columns:
            if (times := header.count(column)) > 1:
                raise TraceError(f"line {number}: {column} stands {times:,} times in the header")
        return Rows(form, data)
    objects = [row for _, line in head if isinstance(row := _json_object(line), dict)]
    for row in objects:
        if (form := _known(row, is_jsonl=True)) is not None:
            return Rows(form, data)
    if objects or first.lstrip()[0] in "{[":
        raise TraceError(_unknown_json(first, objects))
    if isinstance(header, str):
        raise TraceError(f"line {number}: {header}")
    raise TraceError(_unknown_header(first, header))


def _known(columns: Container[str], is_jsonl: bool) -> TraceFormat | None:
    for form in FORMATS:
        if form.is_jsonl == is_jsonl and all(column in columns for column in form.columns):
            return form
    return None


def _unknown_json(first: str, objects: list[dict[str, Any]]) -> str:
    known = _known_columns(is_jsonl=True)
    if objects:
        return f"the columns {cut(', '.join(objects[0]), 80)} are of no known JSONL trace; {known}"
    hint = "each line must be one JSON object"
    return f"{cut(first.lstrip()[:30])} begins a file of no known JSONL trace; {hint}; {known}"


def _unknown_header(first: str, header: list[str]) -> str:
    found, hint = cut(", ".join(header), 80), ""
    for separator, name in OTHER_SEPARATORS.items():
        fields = _csv_fields(first, separator)
        if not isinstance(fields, str) and _known(fields, is_jsonl=False):
            hint = f"; they are parted by {name} and must be by commas"
    small = {column.casefold() for column in header}
    for form in FORMATS:
        if not form.is_jsonl and {column.casefold() for column in form.columns} <= small:
            hint = f"; capitals count: {column_names(form)}"
    return f"the columns {found} are of no known CSV trace{hint}; {_known_columns(is_jsonl=False)}"


def _known_columns(is_jsonl: bool) -> str:
    forms = [form for form in FORMATS if form.is_jsonl == is_jsonl]
    return f"one has ({'; '.join(f'{form.name}: {column_names(form)}' for form in forms)})"


def _csv_rows(lines: Iterator[Line], form: TraceFormat) -> Iterator[Row]:
    _, header = next(lines)
    columns = _csv_fields(header)
    width = len(columns)
    arrival, inputs, outputs = (columns.index(column) for column in form.columns)
    for number, line in lines:
        fields = _csv_fields(line)
        if isinstance(fields, str):
            yield number, fields
        elif not any(fields):
            continue  # commas and nothing else, as spreadsheets leave them at the end
        elif len(fields) != width:
            yield number, f"has {counted(len(fields), 'field')}; the header has {width:,}"
        elif fields == columns:
            yield number, "is the header again"
        else:
            yield number, (fields[arrival], fields[inputs], fields[outputs])


def _csv_fields(line: str, separator: str = ",") -> list[str] | str:
    """The fields of one line, without blanks around them; or what is wrong with it."""
    if '"' not in line and len(line) < SHORT_LINE:
        return [field.strip(BLANKS) for field in line.split(separator)]
    reader = csv.reader((line,), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        return [field.strip(BLANKS) for field in next(reader)]
    except csv.Error as error:
        if str(error) == "unexpected end of data":
            return "a quote is opened and not closed in the line"
        return f"is no CSV ({error})"


def _json_rows(lines: Iterator[Line], form: TraceFormat) -> Iterator[Row]:
    arrival, inputs, outputs = form.columns
    for number, line in lines:
        row = _json_object(line)
        if isinstance(row, str):
            yield number, row
            continue
        try:
            values = row[arrival], row[inputs], row[outputs]
        except KeyError as error:
            yield number, f"{error.args[0]} is missing"
            continue
        twice = [name for name, value in zip(form.columns, values, strict=True) if value is TWICE]
        yield number, f"{twice[0]} stands there more than once" if twice else values


def _json_object(line: str) -> dict[str, Any] | str:
    """The JSON object that a line is; or what is wrong with it."""
    try:
        row = DECODER.decode(line.strip(BLANKS))
    except json.JSONDecodeError:
        return f"is no JSON: {cut(line.strip())}"
    except (ValueError, RecursionError):
        return f"is no JSON that can be read (too deep, or a number too long): {cut(line.strip())}"
    return row if isinstance(row, dict) else f"is no JSON object: {cut(line.strip())}"


TWICE = object()  # in the place of a value whose name stands twice: which is meant is not known


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        times = Counter(name for name, _ in pairs)
        fields.update({name: TWICE for name in fields if times[name] > 1})
    return fields


DECODER = json.JSONDecoder(object_pairs_hook=_each_once)
