"""The small language in which captions cite: a path into a frame or the settings.

    expression   term, or a sum of terms:        ``config.prompt_length + config.capacity``
    term         a path, or the length of one:   ``len(state.waiting)``
    path         names, with keys in brackets:   ``state.requests[0].block_table[2]``

A path begins with a field of the frame, or with ``config``. A key is an index; templates may also
count from the end, ``[-1]``, or write a word. It finds the first entry whose ``name``, ``request``
or event type it is, or with a ``$`` behind it the last: ``events[BlockAllocated].block_id``,
``attention[B$].layer``.
A resolved path holds indices only, so that anyone can follow it in the trace's JSON.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pagedkv.settings import Settings
from pagedkv.trace.frame import Frame

_STEP = re.compile(r"\.?(?P<name>\w+)|\[(?P<key>[^\]]+)\]")
_PATH = re.compile(r"\w+(\.\w+|\[[^\]]+\])*")
_LENGTH = re.compile(r"len\((?P<path>.+)\)")


class UnknownPathError(LookupError):
    """A citation leads nowhere in this frame; the message names it, and a path's failed step."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a path leads to, and the path with every key an index."""

    value: Any
    path: str


def resolve(expression: str, frame: Frame, settings: Settings) -> Resolved:
    """Follow ``expression`` in ``frame`` (or in ``settings`` where it begins with ``config``).

    Raises ``UnknownPathError`` if it leads nowhere, or has no length or sum that it asks for.
    """
    terms = [_resolve_term(term.strip(), frame, settings) for term in expression.split(" + ")]
    if len(terms) == 1:
        return terms[0]
    try:
        total = sum(term.value for term in terms)
    except TypeError as error:
        raise UnknownPathError(f"{expression!r} has no sum: {error}") from error
    return Resolved(total, " + ".join(term.path for term in terms))


def _resolve_term(term: str, frame: Frame, settings: Settings) -> Resolved:
    if length := _LENGTH.fullmatch(term):
        inner = _resolve_path(length["path"], frame, settings)
        try:
            return Resolved(len(inner.value), f"len({inner.path})")
        except TypeError as error:
            raise UnknownPathError(f"{length['path']!r} has no length: {error}") from error
    return _resolve_path(term, frame, settings)


def _resolve_path(path: str, frame: Frame, settings: Settings) -> Resolved:
    if not _PATH.fullmatch(path):
        raise UnknownPathError(f"{path!r} is no path: names and [keys], with dots between names")
    value: Any = frame
    resolved = ""
    rest = path
    if rest.startswith("config."):
        value, resolved, rest = settings, "config", rest.removeprefix("config")
    for step in _STEP.finditer(rest):
        try:
            if step["name"]:
                value = getattr(value, step["name"])
                resolved += f".{step['name']}" if resolved else step["name"]
            else:
                index = _index(value, step["key"])
                value = value[index]
                resolved += f"[{index}]"
        except (AttributeError, IndexError, TypeError, LookupError) as error:
            raise UnknownPathError(f"{path!r} stops at {step[0]!r}: {error}") from error
    return Resolved(value, resolved)


def _index(entries: Sequence[Any], key: str) -> int:
    """The index that ``key`` means: a number as it is, a word by what the entries are called."""
    if key.removeprefix("-").isdigit():
        return range(len(entries))[int(key)]
    word = key.removesuffix("$")
    found = [i for i, entry in enumerate(entries) if word in _names(entry)]
    if not found:
        raise LookupError(f"no entry is called {word!r}")
    return found[-1] if key.endswith("$") else found[0]


def _names(entry: object) -> tuple[object, ...]:
    return (
        type(entry).__name__,
        getattr(entry, "name", None),
        getattr(entry, "request", None),
    )
