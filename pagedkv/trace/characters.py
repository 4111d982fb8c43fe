"""Characters as a person can see them; one character is one token here."""

_VISIBLE = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"}


def visible(token: str) -> str:
    """``token`` itself, or the sign that stands for white space.

    >>> visible(" "), visible("R")
    ('␣', 'R')
    """
    return _VISIBLE.get(token, token)
