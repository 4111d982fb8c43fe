"""Choices as the parameters of a link, and back. The same link gives everybody the same answers.

Parameters are text from anybody: what cannot be honoured is left at its default, and a notice names
the parameter, never what was written there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from pagedkv.generate.choices import Choices

NAMES = tuple(field.name for field in fields(Choices))
FIRST, STEP = "first", "step"  # the frame that is open: step counts from first, both from 0


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What a link asks for: choices, and the frame to open, if any."""

    choices: Choices
    index: int | None
    notices: tuple[str, ...]


def to_query(choices: Choices, first: int) -> dict[str, str]:
    """The parameters that lead to a run, and to its frames from ``first`` on.

    All choices are named, so that a link outlives a change of the defaults.
    """
    query = {name: str(getattr(choices, name)) for name in NAMES}
    return {**query, FIRST: str(first)}


def from_query(query: Mapping[str, str]) -> AskedFor | None:
    """Read what can be honoured from a link; None if it names none of the choices."""
    if not any(name in query for name in NAMES):
        return None
    choices, notices = Choices(), []
    for name in NAMES:
        if name not in query:
            continue
        try:
            choices = replace(choices, **{name: _read(name, query[name])})
        except ValueError:
            notices.append(f"{name} cannot be what the link says; the usual is taken.")
    return AskedFor(choices, _read_index(query), tuple(notices))


def _read(name: str, text: str) -> Any:
    """The value that ``text`` writes. Raises ValueError if it writes none."""
    usual = getattr(Choices(), name)
    return text if isinstance(usual, str) else type(usual)(text)


def _read_index(query: Mapping[str, str]) -> int | None:
    """The frame to open, if the link has one; too large a number is left to whoever has frames."""
    if FIRST not in query and STEP not in query:
        return None
    try:
        return max(int(query.get(FIRST, "0")), 0) + max(int(query.get(STEP, "0")), 0)
    except ValueError:
        return None
