"""What of a planner's address no widget can hold: told by name, never by what was written there."""

import re
from collections.abc import Mapping, Sequence

from pages._plan_fields import FIELDS, AnyMeasure, AnyWhole, Choice, Whole, key

LONGEST = 40  # characters of a number
WHOLE = re.compile(r"[0-9]+")
MEASURE = re.compile(r"[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?")


def refused(query: Mapping[str, Sequence[str]]) -> list[str]:
    """The fields of which a value in this address is none of theirs.

    An address may give a field several values, of which Streamlit's fields take one or another.
    """
    return [
        name
        for name, field in FIELDS.items()
        if not all(_can_hold(field, given) for given in query.get(key(name), ()))
    ]


def refused_words(names: Sequence[str]) -> str:
    """Which fields cannot be what the link says, in a sentence."""
    labels = ", ".join(f"“{FIELDS[name].label}”" for name in names)
    return f"{labels} cannot be what the link says; the usual is taken."


def _can_hold(field: AnyWhole | AnyMeasure | Choice, text: str) -> bool:
    if isinstance(field, Choice):
        return text in field.words.values()
    if text == "":  # an empty field, where it may be empty
        return field.usual is None
    if len(text) > LONGEST:
        return False
    if isinstance(field, Whole):
        return WHOLE.fullmatch(text) is not None and int(text) in field.allowed
    if MEASURE.fullmatch(text) is None:  # Python would take "8_0", " 80" and digits of all scripts
        return False
    return field.least <= float(text) <= field.most
