"""What a number may be, and the one error of the planner, which names the value and what would do.

Values come from command lines, links and files of anybody, so they are cut short when repeated.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

LONGEST_SHOWN = 40  # characters of a value that a message repeats


@dataclass(frozen=True, slots=True)
class Named:
    """The name of a value in a message; whoever shows the message may have another name for it."""

    name: str


class PlanError(ValueError):
    """Something cannot be planned; the message names the value and says what would be right.

    It is made of ``parts``: words, and names of values as the library has them.
    """

    def __init__(self, *parts: str | Named) -> None:
        self.parts = parts
        super().__init__(self.named({}))

    def named(self, names: Mapping[str, str]) -> str:
        """The message with the ``names`` that flags, fields or files have for these values.

        >>> PlanError(Named("tp"), " is 0").named({"tp": "--tp"})
        '--tp is 0'
        """
        return "".join(
            part if isinstance(part, str) else names.get(part.name, part.name)
            for part in self.parts
        )


def shown(value: object) -> str:
    """A value as a message repeats it: on one line, and cut if it is long.

    >>> shown("4 GiB")
    "'4 GiB'"
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an int of thousands of digits, or as many brackets
        return "a value too long to write"
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def require_whole(name: str, value: object, allowed: range) -> None:
    """Raise ``PlanError`` unless ``value`` is an int (True is none) that ``allowed`` has."""
    if type(value) is not int or value not in allowed:
        raise PlanError(
            Named(name),
            f" is {shown(value)}; it must be a whole number from {allowed[0]:,} to {allowed[-1]:,}",
        )


def require_measure(
    name: str, value: object, least: float, most: float, *, above: bool = False
) -> None:
    """Raise ``PlanError`` unless ``value`` is a finite number from ``least`` to ``most``.

    With ``above`` it must be more than ``least``.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = is_number and least <= value <= most and isfinite(value)  # type: ignore[operator, arg-type]
    if not fits or (above and value == least):
        bounds = f"above {least:,.0f}, at most" if above else f"from {least:,.0f} to"
        raise PlanError(
            Named(name), f" is {shown(value)}; it must be a number {bounds} {most:,.0f}"
        )


def exact(value: float) -> Fraction:
    """The number that was written: 0.9 is nine tenths, and not the nearest binary fraction.

    So 80 GiB × 0.9 are 72 GiB to the byte, whatever is subtracted afterwards.
    """
    return Fraction(repr(value))
