"""How values are written, wherever they are: characters made visible, small numbers, counts."""

from collections.abc import Mapping

SMALLEST_PLAIN = 1e-3

_VISIBLE = str.maketrans({" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"})


def visible(text: str) -> str:
    """Write ``text`` so that white space is seen; one character is one token here.

    >>> visible(" "), visible("a b")
    ('␣', 'a␣b')
    """
    return text.translate(_VISIBLE)


def small(number: float) -> str:
    """Write an error or a difference: exactly 0 as "0", tiny ones as a power of ten.

    >>> small(0.0), small(1.23e-7), small(0.71234)
    ('0', '1.2e-07', '0.712')
    """
    if number == 0:
        return "0"
    return f"{number:.1e}" if abs(number) < SMALLEST_PLAIN else f"{number:.3g}"


class Phrases:
    """The phrases of one part of the screen by key, with ``{names}`` to fill in.

    >>> Phrases({"keys": "1 key|{count} keys"}).say_count("keys", 9)
    '9 keys'
    """

    def __init__(self, phrases: Mapping[str, str]) -> None:
        self._phrases = phrases

    def say(self, key: str, /, **values: object) -> str:
        """Fill a phrase that does not depend on a count."""
        return self._phrases[key].format(**values)

    def say_count(self, key: str, count: int, /, **values: object) -> str:
        """Fill a ``"singular|plural"`` phrase; ``{count}`` is in it or is left to the caller."""
        singular, plural = self._phrases[key].split("|")
        return (singular if count == 1 else plural).format(count=count, **values)
