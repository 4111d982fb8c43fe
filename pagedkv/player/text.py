"""How values are written on screen: tokens made visible, counts with their nouns, small floats."""

from pagedkv.player.words import SENTENCES

SMALLEST_PLAIN = 1e-3

_VISIBLE = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"}


def say(key: str, /, **values: object) -> str:
    """Fill a sentence that does not depend on a count."""
    return SENTENCES[key].format(**values)


def say_count(key: str, count: int, /, **values: object) -> str:
    """Fill a ``"singular|plural"`` sentence; ``{count}`` is in it or is left to the caller."""
    singular, plural = SENTENCES[key].split("|")
    return (singular if count == 1 else plural).format(count=count, **values)


def visible(token: str) -> str:
    """Write a token so that white space is seen.

    >>> visible("a b")
    'a␣b'
    """
    return "".join(_VISIBLE.get(character, character) for character in token)


def small(number: float) -> str:
    """Write an error or a difference: exactly 0 as "0", tiny ones as a power of ten.

    >>> small(0.0), small(1.23e-7), small(0.71234)
    ('0', '1.2e-07', '0.712')
    """
    if number == 0:
        return "0"
    return f"{number:.1e}" if abs(number) < SMALLEST_PLAIN else f"{number:.3g}"


def figure(number: float) -> str:
    """Write a worked figure in four digits.

    >>> figure(0.17677), figure(12.3456)
    ('0.1768', '12.35')
    """
    return f"{number:#.4g}".rstrip(".").replace("-", "−")
