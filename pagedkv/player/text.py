"""How the player writes: its sentences filled in, and figures of a worked score."""

from pagedkv.player.words import SENTENCES
from pagedkv.trace.written import Phrases

_phrases = Phrases(SENTENCES)
say, say_count = _phrases.say, _phrases.say_count


def explained(text: str, term: str) -> dict[str, str]:
    """Write ``text`` so that pointing at it explains ``term``."""
    return {"t": text, "term": term}


def figure(number: float) -> str:
    """Write a worked figure in four digits.

    >>> figure(0.17677), figure(12.3456)
    ('0.1768', '12.35')
    """
    return f"{number:#.4g}".rstrip(".").replace("-", "−")
