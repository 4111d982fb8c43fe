"""JSON as the browser gets it: short, and with nothing that JavaScript cannot read."""

import hashlib
import json
from typing import Any

Data = dict[str, Any]


def as_text(data: Any) -> str:
    """Plain data as JSON. Raises ``ValueError`` for a number that is none."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def as_list(items: list[str]) -> str:
    """A JSON list of what is JSON already."""
    return f"[{','.join(items)}]"


def digest(text: str) -> str:
    """A short word that another text does not have."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
