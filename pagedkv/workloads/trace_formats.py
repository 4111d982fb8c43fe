"""The trace formats that can be read: by which columns each is known, and how its clock is read.

None of them is shipped: Azure's LLM inference traces (CC-BY 4.0, Splitwise, ISCA'24), BurstGPT
(CC-BY 4.0), Mooncake (FAST'25, Apache-2.0), and a plain form for traces of one's own. Columns are
found by name, in any order; others are passed over.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from math import isfinite

LONGEST_ARRIVAL = 1e12  # seconds; larger ones are no time of day either
MOST_TOKENS = 10_000_000


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A format is known by having its three columns; ``seconds`` reads what is in the first."""

    name: str
    is_jsonl: bool
    arrival: str
    inputs: str
    outputs: str
    seconds: Callable[[object], float]

    @property
    def columns(self) -> tuple[str, str, str]:
        """The three columns that are read."""
        return self.arrival, self.inputs, self.outputs


def seconds_as_written(value: object) -> float:
    """Seconds, as a number or as text that writes one. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("must be a number of seconds")
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        raise ValueError("must be a number of seconds") from None
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
    try:
        moment = datetime.fromisoformat(str(value).strip())
        if moment.tzinfo is None:
            moment = datetime.fromisoformat(f"{str(value).strip()}+00:00")
        return moment.timestamp()
    except (ValueError, OverflowError):
        message = "must be a date and time such as 2023-11-16 18:17:03.9799600"
        raise ValueError(message) from None


def whole_tokens(value: object) -> int:
    """A whole number of tokens, or text that writes one. Raises ValueError."""
    number = value
    if isinstance(value, str):
        digits = value.strip()
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None
    if isinstance(value, float) and value.is_integer():
        number = int(value)
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MOST_TOKENS:
        raise ValueError(f"must be a whole number of tokens from 1 to {MOST_TOKENS}")
    return number


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
        "BurstGPT", False, "Timestamp", "Request tokens", "Response tokens", seconds_as_written
    ),
    TraceFormat("Mooncake", True, "timestamp", "input_length", "output_length", milliseconds),
    TraceFormat("plain CSV", False, "arrival", "input", "output", seconds_as_written),
    TraceFormat("plain JSONL", True, "arrival", "input", "output", seconds_as_written),
)
