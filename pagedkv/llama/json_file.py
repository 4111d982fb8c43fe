"""Read a JSON object from a file that may come from anywhere: of bounded size, with clear words."""

import json
from pathlib import Path
from typing import Any


def read_json(path: Path, most: int) -> dict[str, Any]:
    """Return the JSON object in `path`.

    Raises ValueError, naming the file, if it is missing, larger than `most` bytes, no JSON, or JSON
    that is no object.
    """
    try:
        size = path.stat().st_size
        if size > most:
            raise ValueError(f"{path} has {size} bytes; at most {most} are read")
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path} holds a {type(value).__name__}; it must be an object")
    return value
