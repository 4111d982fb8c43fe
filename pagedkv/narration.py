"""Captions: templates that cite the frame, so that no number in them can be typed in.

A template is text with citations in braces, ``{path}`` or ``{path:how}``. The path is looked up in
the frame (``pagedkv.trace.facts``); ``how`` says how to write it:

    {check.needed:block}           2 blocks          a count and its noun
    {check.needed:is|are}          are               the word alone, by the count
    {events[SlotsWritten].slots[0]:ordinal}          third, for 2: the place of an index
    {state.requests[B].block_table:P}   P3 and P0    a prefix on each of a list
    {state.requests[B].pending_token:char}  “␣”      a character, visible
    {state.waiting}                C and D

A list of more than eight is cut to its first three and its last.

Whatever a citation writes is also returned as a ``Fact`` with its path, one per list element.
"""

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pagedkv.settings import Settings
from pagedkv.trace.facts import Resolved, resolve
from pagedkv.trace.frame import Fact, Frame
from pagedkv.trace.written import visible

_LONGEST_LIST = 8
_PLURALS = {"entry": "entries", "copy": "copies"}
# fmt: off
_ONES = (
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
    "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth",
    "seventeenth", "eighteenth", "nineteenth",
)
# fmt: on
_TENS = {20: ("twentieth", "twenty"), 30: ("thirtieth", "thirty")}


@dataclass(frozen=True, slots=True)
class Narration:
    """A finished text, and the facts that it cites in order of appearance."""

    text: str
    facts: tuple[Fact, ...]


def narrate(template: str, frame: Frame, settings: Settings) -> Narration:
    """Fill in ``template`` from ``frame`` and ``settings``.

    Raises ``UnknownPathError`` if a citation leads nowhere, ValueError if it cannot be written the
    way it asks for.
    """
    teller = _Teller(frame, settings)
    text = teller.vformat(template, (), {})
    names = [
        Fact(request.name, f"state.requests[{i}].name")
        for i, request in enumerate(frame.state.requests)
        if any(map(str.isdigit, request.name)) and request.name in text
    ]
    return Narration(text, tuple(dict.fromkeys(teller.facts + names)))


def plural(noun: str, count: int) -> str:
    """``noun`` as it follows ``count``."""
    return noun if count == 1 else _PLURALS.get(noun, f"{noun}s")


def ordinal(index: int) -> str:
    """The place of a zero-based index in words, up to the thirty-ninth.

    >>> ordinal(2), ordinal(20), ordinal(31)
    ('third', 'twenty-first', 'thirty-second')
    """
    number = index + 1
    if number < len(_ONES):
        return _ONES[number]
    tens, ones = number - number % 10, number % 10
    round_word, stem = _TENS[tens]
    return f"{stem}-{_ONES[ones]}" if ones else round_word


def join(words: Sequence[str], conjunction: str = "and") -> str:
    """``words`` as an English list: "P1", "P1 and P4", "P0, P1 and P4"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


class _Teller(string.Formatter):
    """``str.format`` with paths for field names, keeping account of what it cites."""

    def __init__(self, frame: Frame, settings: Settings) -> None:
        self._frame = frame
        self._settings = settings
        self.facts: list[Fact] = []

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Resolved, str]:
        return resolve(field_name, self._frame, self._settings), field_name

    def format_field(self, value: Resolved, format_spec: str) -> str:
        cited = value.value
        if isinstance(cited, tuple):
            shown = _shown(cited)
            self.facts += [Fact(cited[i], f"{value.path}[{i}]") for i in shown]
        elif isinstance(cited, bool) or not isinstance(cited, int | float | str):
            raise ValueError(f"{value.path} is {cited!r}, which a caption cannot cite")
        else:
            self.facts.append(Fact(cited, value.path))
        return _write(cited, format_spec)


def _shown(cited: Sequence[Any]) -> tuple[int, ...]:
    """Indices of a list's elements that a caption names."""
    if len(cited) <= _LONGEST_LIST:
        return tuple(range(len(cited)))
    return (0, 1, 2, len(cited) - 1)


def _write_list(words: Sequence[str], length: int) -> str:
    if len(words) == length:
        return join(words)
    return f"{', '.join(words[:-1])} … {words[-1]}"


def _write(cited: Any, how: str) -> str:
    """One cited value in words, the way ``how`` asks (see the module's docstring)."""
    if isinstance(cited, tuple):
        return _write_list([f"{how}{cited[i]}" for i in _shown(cited)], len(cited))
    if how == "":
        return str(cited)
    if how == "char":
        return f"“{visible(cited)}”"
    if how == "ordinal":
        return ordinal(cited)
    if "|" in how:
        singular, several = how.split("|")
        return singular if cited == 1 else several
    return f"{cited} {plural(how, cited)}"
