"""A session as a small JSON file, to be kept and handed on. ``docs/sandbox-file.md`` describes it.

    {"pagedkv_sandbox": 1, "block_size": 4, "capacity": 24, "free_order": "tidy",
     "actions": [{"do": "new", "prompt": "ROMEO:"}, {"do": "decode", "request": 1}]}

A file may come from anybody. Whatever does not fit is refused as a whole, by a message that names
it; nothing in it is ever run.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any

from pagedkv.sandbox.actions import Action, DecodeToken, EngineStep, Finish, Fork, NewRequest
from pagedkv.sandbox.plain_json import read_json
from pagedkv.sandbox.script import Pool, Script, ScriptError

VERSION = 1
LARGEST_FILE = 64 * 1024  # bytes

_POOL = {"block_size", "capacity", "free_order"}
# What an action holds beside "do" are its kind's fields; those with a default may be left out.
_KINDS: dict[str, type[Action]] = {
    "new": NewRequest,
    "decode": DecodeToken,
    "fork": Fork,
    "finish": Finish,
    "step": EngineStep,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def to_file(script: Script) -> str:
    """The file's text, indented for people."""
    data = {
        "pagedkv_sandbox": VERSION,
        "block_size": script.pool.block_size,
        "capacity": script.pool.capacity,
        "free_order": script.pool.free_order,
        "actions": [_to_plain(action) for action in script.actions],
    }
    return json.dumps(data, indent=1)


def read_file(content: bytes) -> Script:
    """The session in a file. Raises ``ScriptError`` for whatever is not one, and says why."""
    if len(content) > LARGEST_FILE:
        raise ScriptError(
            f"it has {len(content)} bytes; a session's file has {LARGEST_FILE} at most"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScriptError("it is not text in UTF-8") from error
    data = read_json(text)
    _require_keys("it", data, {"pagedkv_sandbox", "actions", *_POOL})
    if data["pagedkv_sandbox"] != VERSION or isinstance(data["pagedkv_sandbox"], bool):
        raise ScriptError(f"it is not of version {VERSION}, the only one there is")
    if not isinstance(data["actions"], list):
        raise ScriptError("its actions must be a list")
    pool = Pool(**{key: data[key] for key in sorted(_POOL)})
    actions = enumerate(data["actions"], start=1)
    return Script(pool, tuple(_read_action(f"action {n}", plain) for n, plain in actions))


def _to_plain(action: Action) -> dict[str, Any]:
    held = {key: value for key, value in asdict(action).items() if value is not None}
    return {"do": _NAMES[type(action)], **held}


def _read_action(what: str, plain: Any) -> Action:
    """One action; whether its values make sense is for ``Script`` to say."""
    do = plain.get("do") if isinstance(plain, dict) else None
    if not isinstance(do, str) or do not in _KINDS:
        raise ScriptError(f'{what} must be an object whose "do" is one of {", ".join(_KINDS)}')
    kind = _KINDS[do]
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    optional = {field.name for field in fields(kind)} - needed
    _require_keys(what, plain, {"do", *needed}, optional)
    held = {key: value for key, value in plain.items() if key != "do"}
    for key in optional & held.keys():
        if held[key] is None:
            raise ScriptError(f"{what} has an empty {key}; leave it out for the model's choice")
    action: Action = kind(**held)
    return action


def _require_keys(
    what: str, data: Any, needed: Collection[str], optional: Collection[str] = ()
) -> None:
    if not isinstance(data, Mapping):
        raise ScriptError(f"{what} must be an object with {', '.join(sorted(needed))}")
    missing = sorted(set(needed) - data.keys())
    if missing:
        raise ScriptError(f"{what} lacks {', '.join(missing)}")
    if data.keys() - needed - set(optional):
        raise ScriptError(f"{what} has more than {', '.join(sorted({*needed, *optional}))}")
