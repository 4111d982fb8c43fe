"""What a learner types into a field of one line, where the board shows white space by signs."""

_SIGNS = {"\\n": "\n", "↵": "\n", "␣": " "}  # the model's vocabulary has none of them


def typed(text: str) -> str:
    """The text that is meant: a line break is typed as the board shows it, or as backslash and n.

    >>> typed("a↵b"), typed("␣"), typed("x")
    ('a\\nb', ' ', 'x')
    """
    for sign, meant in _SIGNS.items():
        text = text.replace(sign, meant)
    return text
