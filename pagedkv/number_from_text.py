"""A number as somebody wrote it: plain digits, and none of Python's own ways to write one."""


def number_from_text(text: str) -> int | float | None:
    """The number that ``text`` writes, whole where it can be; None for text that writes none.

    ``1_0`` and digits of other scripts are numbers to Python and slips to everybody else: None.
    What ``float`` reads beyond numbers (nan, inf) is left to the caller, who knows the range.

    >>> [number_from_text(text) for text in (" 7 ", "1.5e3", "1_0", "１", "many")]
    [7, 1500.0, None, None, None]
    """
    if not text.isascii() or "_" in text:
        return None
    try:
        return int(text)
    except ValueError:  # also for thousands of digits: those are read as a float, or as inf
        pass
    try:
        return float(text)
    except ValueError:
        return None
