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
PRESENT = "present"  # 1: the frame fills the screen


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What a link asks for: choices, the frame to open, if any, and whether to present it."""

    choices: Choices
    index: int | None
    present: bool
    notices: tuple[str, ...]


def to_query(choices: Choices, first: int | None = None) -> dict[str, str]:
    """The parameters that lead to a run, and to its frames from ``first`` on, if it is given.

    All choices are named, so that a link outlives a change of the defaults.
    """
    query = {name: str(getattr(choices, name)) for name in NAMES}
    return query if first is None else {**query, FIRST: str(first)}


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
    if query.get(PRESENT, "0") not in ("0", "1"):
        notices.append(f"{PRESENT} is 1 or 0, and not what the link says; 0 is taken.")
    # Who presents looks at a frame: without any other, at the first.
    present = query.get(PRESENT) == "1"
    index = _read_index(query)
    return AskedFor(choices, 0 if present and index is None else index, present, tuple(notices))


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
