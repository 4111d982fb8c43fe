"""Refuse bad arguments in words: which argument, what was right, what came.

Every public method of the engine checks before it changes anything, so a wrong call leaves the
state as it was. This module knows no blocks and no requests.
"""

LONGEST_NAMED = 40  # characters of a value that a message repeats


def named(value: object) -> str:
    """How a message repeats a value from outside: as Python writes it in ASCII, cut short.

    >>> named("é"), named("x" * 99)
    ("'\\\\xe9'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…")
    """
    try:
        text = ascii(value)
    except ValueError:  # Python writes no whole number of thousands of digits
        text = "a value too long to write"
    return shortened(text, LONGEST_NAMED)


def shortened(text: str, most: int) -> str:
    """A text, or the beginning of one that has more than ``most`` characters, with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def is_whole_number(value: object) -> bool:
    """Whether ``value`` is an int and nothing else: True is no count, and neither is 2.0."""
    return type(value) is int


def require_whole_number(argument: str, value: int, least: int, most: int | None = None) -> None:
    """Raise ValueError unless ``value`` is an int from ``least`` to ``most`` (both included)."""
    if is_whole_number(value) and least <= value and (most is None or value <= most):
        return
    if most is not None and most < least:
        raise ValueError(f"{argument} cannot be {value!r}: there is none")
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise ValueError(f"{argument} must be a whole number {bounds}, got {value!r}")


def require_name(argument: str, value: str) -> None:
    """Raise ValueError unless ``value`` is a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{argument} must be a text that is not empty, got {value!r}")
