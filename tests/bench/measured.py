"""One line of the table: what was measured, what was promised, what came out."""

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Measured:
    """``value`` says the figure in words, ``reached`` whether it keeps the promise."""

    what: str
    target: str
    value: str
    reached: bool


def milliseconds(what: str, target: float, seconds: list[float], note: str = "") -> Measured:
    """A line for durations whose median is to be at most ``target`` milliseconds."""
    middle, worst = median(seconds) * 1000, max(seconds) * 1000
    value = f"{middle:.0f} ms, at most {worst:.0f} ms ({len(seconds)} times{note})"
    return Measured(what, f"≤ {target:.0f} ms", value, middle <= target)


HEAD = "| what | promised | median | reached |\n|---|---|---|---|"


def as_row(line: Measured) -> str:
    """The line as a row of a Markdown table."""
    return f"| {line.what} | {line.target} | {line.value} | {'yes' if line.reached else 'NO'} |"
