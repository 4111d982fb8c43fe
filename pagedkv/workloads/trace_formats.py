"""The trace formats that can be read: by which columns each is known, and how its clock is read.

None of them is shipped: Azure's LLM inference traces (CC-BY 4.0, Splitwise, ISCA'24), BurstGPT
(CC-BY 4.0), Mooncake (FAST'25, Apache-2.0), and a plain form for traces of one's own. Columns are
found by name, in any order; others are passed over.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from pagedkv.number_from_text import number_from_text
from pagedkv.workloads.ranges import MOST_TOKENS

LONGEST_ARRIVAL = 1e12  # of its unit; larger ones are no time of day either
DATE_AND_TIME = re.compile(  # what Azure's traces write, with or without a time zone
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?"
)


def seconds_as_written(value: object) -> float:
    """Seconds, as a number or as text that writes one. Raises ValueError."""
    return _time(number_from_text(value) if isinstance(value, str) else value, "seconds")


def seconds_from_milliseconds(value: object) -> float:
    """Seconds of a number of milliseconds, which is no text. Raises ValueError."""
    return _time(value, "milliseconds") / 1000


def _time(number: object, unit: str) -> float:
    """The number as a float, from 0 to ``LONGEST_ARRIVAL`` of the unit."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ValueError(f"must be a number of {unit}")
    # nan is in no range, and Python compares whole numbers that no float can hold as they are.
    if not 0 <= number <= LONGEST_ARRIVAL:
        raise ValueError(f"must be a number of {unit} from 0 to {LONGEST_ARRIVAL:g}")
    return float(number)


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
    number = number_from_text(value) if isinstance(value, str) else value
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
        is_jsonl=False,
        arrival="TIMESTAMP",
        inputs="ContextTokens",
        outputs="GeneratedTokens",
        seconds=date_and_time,
    ),
    TraceFormat(
        "BurstGPT",  # its README: a request that failed has a response of 0 tokens
        is_jsonl=False,
        arrival="Timestamp",
        inputs="Request tokens",
        outputs="Response tokens",
        seconds=seconds_as_written,
        answered=answered_tokens,
    ),
    TraceFormat(
        "Mooncake",
        is_jsonl=True,
        arrival="timestamp",
        inputs="input_length",
        outputs="output_length",
        seconds=seconds_from_milliseconds,
    ),
    *(
        TraceFormat(
            name,
            is_jsonl=is_jsonl,
            arrival="arrival",
            inputs="input",
            outputs="output",
            seconds=seconds_as_written,
        )
        for name, is_jsonl in (("plain CSV", False), ("plain JSONL", True))
    ),
)
