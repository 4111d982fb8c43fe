"""The address of a view: what a query string asks for, and what of it can be honoured.

Query parameters are text from anybody. Each becomes the nearest value that can be honoured, and a
notice that says what was done. Notices repeat numbers but never text, so nothing that somebody put
into a link is shown to somebody else. No Streamlit here; the browser writes the address
(``_adapter.js``), this module only reads it.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from pagedkv.settings import RANGES, Settings

Query = Mapping[str, Sequence[str]]
DEFAULTS = Settings()
SETTING_NAMES = tuple(field.name for field in fields(Settings))
QUERY_NAMES = (*SETTING_NAMES, "step", "present")


@dataclass(frozen=True, slots=True)
class AskedFor:
    """The view that a query string asks for. ``step`` is not yet held against a lesson's length."""

    settings: Settings
    step: int
    present: bool
    notices: tuple[str, ...]


def read_query(query: Query) -> AskedFor:
    """Read what can be honoured from the parameters; every name may be missing or repeated."""
    notices: list[str] = []
    settings = {name: _read_setting(name, query, notices) for name in SETTING_NAMES}
    step = _read_number("step", 0, math.inf, 0, query, notices)
    present = _read_number("present", 0, 1, 0, query, notices)
    return AskedFor(Settings(**settings), step, present == 1, tuple(notices))


def read_step(given: Sequence[str]) -> tuple[int | None, tuple[str, ...]]:
    """The frame that an address asks for, or None if it does not say; a notice if it is none."""
    notices: list[str] = []
    step = _read_number("step", 0, math.inf, 0, {"step": given}, notices)
    return (step if given else None), tuple(notices)


def read_present(given: Sequence[str]) -> tuple[bool, tuple[str, ...]]:
    """Whether an address asks for a presentation; a notice if it says neither yes nor no."""
    notices: list[str] = []
    present = _read_number("present", 0, 1, 0, {"present": given}, notices)
    return present == 1, tuple(notices)


def nearest_step(step: int, num_frames: int) -> tuple[int, tuple[str, ...]]:
    """The frame nearest to ``step`` in a lesson of ``num_frames``; a notice if it is another."""
    if step < num_frames:
        return step, ()
    last = num_frames - 1
    return last, (
        f"step is {_written(step)}, but the last frame here is {last}, so {last} is shown.",
    )


def query_of(settings: Settings) -> dict[str, str]:
    """The parameters that lead to these settings; what is at its default stays out."""
    return {
        name: str(getattr(settings, name))
        for name in SETTING_NAMES
        if getattr(settings, name) != getattr(DEFAULTS, name)
    }


def _read_setting(name: str, query: Query, notices: list[str]) -> int:
    allowed = RANGES[name]
    return _read_number(name, allowed[0], allowed[-1], getattr(DEFAULTS, name), query, notices)


def _read_number(
    name: str, least: int, most: float, default: int, query: Query, notices: list[str]
) -> int:
    """The whole number from ``least`` to ``most`` that is nearest to the parameter ``name``."""
    given = query.get(name, ())
    if not given:
        return default
    number = _as_number(given[0])
    if number is None:
        notices.append(f"{name} must be a whole number{_bounds(least, most)}; {default} is used.")
        return default
    nearest = round(min(max(number, least), most))
    if len(given) > 1:
        notices.append(f"{name} is given {len(given)} times; {_written(nearest)} is used.")
    elif number != nearest:
        notices.append(
            f"{name} is {_written(number)}, but must be a whole number{_bounds(least, most)}; "
            f"{_written(nearest)} is used."
        )
    return nearest


def _bounds(least: int, most: float) -> str:
    return f" of at least {least}" if most == math.inf else f" from {least} to {most:.0f}"


def _written(number: float) -> str:
    """Digits in full up to fifteen of them; a larger number as a power of ten."""
    return f"{number:.15g}"


def _as_number(text: str) -> float | None:
    """The number that ``text`` writes, infinity as the largest there is; None if it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    largest = sys.float_info.max
    return None if math.isnan(number) else min(max(number, -largest), largest)
