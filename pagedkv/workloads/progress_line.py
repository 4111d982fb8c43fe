"""How far a simulation is, on the terminal: one line that is gone when it ends."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pagedkv.workloads.simulation import OnProgress

BACK_AND_CLEAR = "\r\x1b[K"


@contextmanager
def progress_line(what: str) -> Iterator[OnProgress | None]:
    """Whom to tell how many requests are done; None where nobody looks: a file, or a pipe."""
    if not sys.stderr.isatty():
        yield None
        return

    def tell(done: int, total: int) -> None:
        line = f"{what}: {done:,} of {total:,} requests"
        print(BACK_AND_CLEAR, line, sep="", end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        print(BACK_AND_CLEAR, end="", file=sys.stderr, flush=True)
