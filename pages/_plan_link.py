"""What of a planner's address no widget can hold: told by name, never by what was written there."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite

from pages._plan_fields import FIELDS, Choice, Measure, Whole, key

LONGEST = 40  # characters of a number


def refused(query: Mapping[str, Sequence[str]]) -> list[str]:
    """The fields whose value in this address is none of theirs."""
    return [
        name
        for name, field in FIELDS.items()
        if (given := query.get(key(name))) and not _can_hold(field, given[-1])
    ]


def _can_hold(field: Whole | Measure | Choice, text: str) -> bool:
    if isinstance(field, Choice):
        return text in field.words.values()
    if text == "":  # an empty field, where it may be empty
        return field.usual is None
    if len(text) > LONGEST:
        return False
    if isinstance(field, Whole):
        return re.fullmatch(r"[0-9]+", text) is not None and int(text) in field.allowed
    try:
        number = float(text)
    except ValueError:
        return False
    return isfinite(number) and field.least <= number <= field.most
