"""The trace formats that can be read: by which columns each is known, and how its clock is read.

None of them is shipped: Azure's LLM inference traces (CC-BY 4.0, Splitwise, ISCA'24), BurstGPT
(CC-BY 4.0), Mooncake (FAST'25, Apache-2.0), and a plain form for traces of one's own. Columns are
found by name, in any order; others are passed over.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf, isfinite

from pagedkv.workloads.written import number_written

LONGEST_ARRIVAL = 1e12  # seconds; larger ones are no time of day either
MOST_TOKENS = 10_000_000
DATE_AND_TIME = re.compile(  # what Azure's traces write, with or without a time zone
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?"
)


def seconds_as_written(value: object) -> float:
    """Seconds, as a number or as text that writes one. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("must be a number of seconds")
    number = number_written(value) if isinstance(value, str) else value
    if number is None:
        raise ValueError("must be a number of seconds")
    try:
        seconds = float(number)
    except OverflowError:
        seconds = inf
    if not isfinite(seconds) or not 0 <= seconds <= LONGEST_ARRIVAL:
        raise ValueError(f"must be a number of seconds from 0 to {LONGEST_ARRIVAL:g}")
    return seconds


def milliseconds(value: object) -> float:
    """Milliseconds, in seconds. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number of milliseconds")
    try:
        return seconds_as_written(value) / 1000
    except ValueError as error:
        raise ValueError(str(error).replace("seconds", "milliseconds")) from None


def date_and_time(value: object) -> float:
    """Seconds since 1970 of a date and time such as 2023-11-16 18:17:03.9799600, taken as UTC.

    Raises ValueError.
    """
    text = str(value).strip()
    try:
        if not DATE_AND_TIME.fullmatch(text):
            raise ValueError
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, OverflowError):
        message = "must be a date and time such as 2023-11-16 18:17:03.9799600"
        raise ValueError(message) from None


def whole_tokens(value: object) -> int:
    """A whole number of tokens, or text that writes one; 3.0 is 3. Raises ValueError."""
    number = number_written(value) if isinstance(value, str) else value
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MOST_TOKENS:
        raise ValueError(f"must be a whole number of tokens from 1 to {MOST_TOKENS:,}")
    return number


def answered_tokens(value: object) -> int:
    """As ``whole_tokens``, where no token says that the request failed. Raises ValueError."""
    try:
        return whole_tokens(value)
    except ValueError as error:
        failed = str(value).strip() in ("0", "0.0")
        raise ValueError(f"{error}{'; this request failed' if failed else ''}") from None


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A format is known by having its three columns.

    ``seconds`` reads what is in the first, ``answered`` what is in the last.
    """

    name: str
    is_jsonl: bool
    arrival: str
    inputs: str
    outputs: str
    seconds: Callable[[object], float]
    answered: Callable[[object], int] = whole_tokens

    @property
    def columns(self) -> tuple[str, str, str]:
        """The three columns that are read."""
        return self.arrival, self.inputs, self.outputs


def column_names(form: TraceFormat) -> str:
    """Its columns for a sentence: "arrival, input, output"."""
    return ", ".join(form.columns)


FORMATS = (
    TraceFormat(
        "Azure LLM inference trace",
        False,
        "TIMESTAMP",
        "ContextTokens",
        "GeneratedTokens",
        date_and_time,
    ),
    TraceFormat(
        "BurstGPT",  # its README: a request that failed has a response of 0 tokens
        False,
        "Timestamp",
        "Request tokens",
        "Response tokens",
        seconds_as_written,
        answered_tokens,
    ),
    TraceFormat("Mooncake", True, "timestamp", "input_length", "output_length", milliseconds),
    TraceFormat("plain CSV", False, "arrival", "input", "output", seconds_as_written),
    TraceFormat("plain JSONL", True, "arrival", "input", "output", seconds_as_written),
)
