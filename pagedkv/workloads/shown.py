"""How a value that somebody gave is written back in a message."""


def cut(value: object, longest: int = 40) -> str:
    """Write a value that somebody gave, cut short if it is long."""
    written = repr(value)
    return written if len(written) <= longest else f"{written[: longest - 1]}…"


def any_of(names: tuple[str, ...]) -> str:
    """Join names for a sentence: "max, pow2, oracle or paged"."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
