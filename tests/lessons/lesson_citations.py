"""A second reader of facts: follows a fact's path in the JSON, without the project's own code.

expression   terms joined by " + "
term         a path, or len(a path)
path         names and [indices], from the frame, or from the settings where it begins "config."
"""

import re
from typing import Any

from lesson_reading import Json

_PATH = re.compile(r"[a-z_]+(\.[a-z_]+|\[\d+\])*")
_STEP = re.compile(r"([a-z_]+)|\[(\d+)\]")


def evaluate(expression: str, frame: Json, config: Json) -> Any:
    """What stands at ``expression``. Raises KeyError, IndexError or AssertionError if nothing."""
    values = [_term(term, frame, config) for term in expression.split(" + ")]
    return values[0] if len(values) == 1 else sum(values)


def _term(term: str, frame: Json, config: Json) -> Any:
    if term.startswith("len(") and term.endswith(")"):
        return len(_follow(term[4:-1], frame, config))
    return _follow(term, frame, config)


def _follow(path: str, frame: Json, config: Json) -> Any:
    assert _PATH.fullmatch(path), path
    value: Any = {**frame, "config": config}
    for name, index in _STEP.findall(path):
        value = value[name] if name else value[int(index)]
    return value


def digit_runs(text: str, names: list[str]) -> set[str]:
    """Every number in ``text`` that is not part of a request's name."""
    for name in names:
        text = re.sub(rf"\b{re.escape(name)}\b", "", text)
    return set(re.findall(r"\d+", text))


_OFFER = re.compile(r"(capacity|prompt length|block size) (\d+)", re.IGNORECASE)


def remedies(reason: str) -> list[dict[str, int]]:
    """The changes of settings that a reason offers: one setting each, or several together."""
    *_, offer = reason.split(". ")
    changes = [(name.lower().replace(" ", "_"), int(n)) for name, n in _OFFER.findall(offer)]
    if "together" in offer:
        return [dict(changes)]
    return [{name: value} for name, value in changes]


_COUNTED = r"positions?|blocks?|slots?|inputs?|entry|entries"
_COUNT_AND_NOUN = re.compile(rf"\b(\d+) (?:more |empty |stored |table )*({_COUNTED})\b")
_SINGULAR = ("is", "was", "does", "has", "holds", "needs", "serves", "lies")
_PLURAL = ("are", "were", "do", "have", "hold", "need", "serve", "lie")
_VERB = "|".join((*_SINGULAR, *_PLURAL))
_COUNT_AND_VERB = re.compile(
    rf"(?<!of )(?<!osition )\b(\d+)(?: of \d+)?(?: (?!would)\w+)? ({_VERB})\b"
)
_COUNT_OF_SIZE_AND_VERB = re.compile(rf"\b(\d+) (?:{_COUNTED}) of \d+ (?:{_COUNTED}) ({_VERB})\b")
_PART_OF_ONE = re.compile(rf"\b\d+ of 1 (?:{_COUNTED})\b")


def slips_of_grammar(text: str) -> list[str]:
    """Counts whose noun or verb does not agree: "1 blocks", "2 slots is", "0 of 1 block"."""
    plural_nouns = [
        match[0]
        for match in _COUNT_AND_NOUN.finditer(text)
        if (match[1] == "1") == (match[2].endswith("s"))
    ]
    verbs = [
        match[0]
        for pattern in (_COUNT_AND_VERB, _COUNT_OF_SIZE_AND_VERB)
        for match in pattern.finditer(text)
        if (match[1] == "1") != (match[2] in _SINGULAR)
    ]
    return plural_nouns + verbs + _PART_OF_ONE.findall(text)
