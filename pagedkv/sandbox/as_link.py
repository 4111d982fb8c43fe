"""A session as one word for an address: short, and made of letters that every address may have.

The word is the base64 (RFC 4648, the alphabet for addresses, no padding) of a small JSON list:
version, block size, capacity, first letter of the free order, and a string per action, its first
letter saying what is done:

    n<prompt>   d<request><token, or nothing>   f<request>   x<request>   s

Nothing is compressed, so nothing can swell when it is read.
"""

import base64
import binascii
import json
import re
from typing import Any

from pagedkv.sandbox.actions import Action, DecodeToken, EngineStep, Finish, Fork, NewRequest
from pagedkv.sandbox.plain_json import read_json
from pagedkv.sandbox.script import FREE_ORDERS, Pool, Script, ScriptError

VERSION = 1
LONGEST_LINK = 64 * 1024  # characters
_ABOUT_ONE = re.compile(r"([dfx])([1-9][0-9]{0,3})(.*)", re.DOTALL)


def to_link(script: Script) -> str:
    """The word for an address's query."""
    pool = script.pool
    actions = [_to_word(action) for action in script.actions]
    data = [VERSION, pool.block_size, pool.capacity, pool.free_order[0], actions]
    text = json.dumps(data, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_link(word: str) -> Script:
    """The session in a link. Raises ``ScriptError`` for whatever is not one, and says why."""
    if len(word) > LONGEST_LINK:
        raise ScriptError(f"it has {len(word)} characters; a link has {LONGEST_LINK} at most")
    data = read_json(_from_base64(word))
    if not isinstance(data, list) or len(data) != 5:
        raise ScriptError("it does not hold version, pool and actions")
    version, block_size, capacity, order, actions = data
    if version != VERSION or isinstance(version, bool):
        raise ScriptError(f"it is not of version {VERSION}, the only one there is")
    if not isinstance(actions, list):
        raise ScriptError("its actions must be a list")
    orders = {free_order[0]: free_order for free_order in FREE_ORDERS}
    free_order: Any = orders.get(order, order) if isinstance(order, str) else order
    numbered = enumerate(actions, start=1)
    return Script(
        Pool(block_size, capacity, free_order),
        tuple(_read_word(f"action {n}", word) for n, word in numbered),
    )


def _from_base64(word: str) -> str:
    try:
        padded = word.encode("ascii") + b"=" * (-len(word) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (UnicodeError, binascii.Error) as error:
        raise ScriptError("it is cut off or was changed on its way") from error


def _to_word(action: Action) -> str:
    match action:
        case NewRequest(prompt=prompt):
            return f"n{prompt}"
        case DecodeToken(request=request, token=token):
            return f"d{request}{token or ''}"
        case Fork(request=request):
            return f"f{request}"
        case Finish(request=request):
            return f"x{request}"
        case EngineStep():
            return "s"


def _read_word(what: str, word: Any) -> Action:
    if isinstance(word, str):
        if word == "s":
            return EngineStep()
        if word.startswith("n"):
            return NewRequest(word[1:])
        if match := _ABOUT_ONE.fullmatch(word):
            do, request, rest = match[1], int(match[2]), match[3]
            if do == "d":
                return DecodeToken(request, rest or None)
            if not rest:
                return Fork(request) if do == "f" else Finish(request)
    raise ScriptError(f"{what} is none that a session has")
