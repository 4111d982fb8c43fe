"""Refuse bad arguments in words: which argument, what was right, what came.

Every public method of the engine checks before it changes anything, so a wrong call leaves the
state as it was. This module knows no blocks and no requests.
"""


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
