"""How values, names and counts are written in a message."""

from pagedkv.checks import LONGEST_NAMED, shortened


def cut(value: object, longest: int = LONGEST_NAMED) -> str:
    """Write a value that somebody gave, cut short if it is long; letters of all scripts stay."""
    if isinstance(value, str):
        value = value[: longest + 1]  # the rest of 50 MB need not be written to be cut
    try:
        written = repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or of brackets
        return "a value too long to write"
    return shortened(written, longest)


def any_of(names: tuple[str, ...]) -> str:
    """Join names for a sentence: "max, pow2, oracle or paged"."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def counted(count: int, one: str) -> str:
    """A count and its noun: "1 row", "2,000 rows"."""
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"
