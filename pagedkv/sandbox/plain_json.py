"""JSON from anybody, read as data: never an exception but ``ScriptError``, however hostile."""

import json
from typing import Any

from pagedkv.sandbox.script import ScriptError


def read_json(text: str) -> Any:
    """What a JSON text holds. Raises ``ScriptError`` where it is none, or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ScriptError("it is nested too deeply to be a session") from error
    except ValueError as error:  # a number of thousands of digits is one, too
        raise ScriptError("it is not valid JSON") from error
