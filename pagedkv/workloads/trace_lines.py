"""A trace file's bytes as numbered lines of text, and what is no text at all."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper

from pagedkv.workloads.workload import WorkloadError

LARGEST_FILE = 50_000_000  # bytes
ENCODING = "utf-8-sig"  # a byte-order mark may stand first
BEGINNING = 4  # characters in which UTF-16 or UTF-32 without its mark shows

Line = tuple[int, str]  # its number, from 1, and its text without the line end


class TraceError(WorkloadError):
    """A file cannot be read as a trace. ``num_bad_rows`` is 0 unless leaving rows out would do."""

    def __init__(self, message: str, num_bad_rows: int = 0) -> None:
        super().__init__(message)
        self.num_bad_rows = num_bad_rows


def numbered_lines(data: bytes) -> Iterator[Line]:
    """The lines that hold anything. A line ends with ``\\n``, ``\\r\\n`` or ``\\r``."""
    text = TextIOWrapper(BytesIO(data), ENCODING, newline=None)
    for number, line in enumerate(text, start=1):
        if not line.isspace():
            yield number, line.rstrip("\n")


def require_text(data: bytes) -> None:
    """Raise ``TraceError`` for a file that is too large, no UTF-8 text, or empty."""
    if len(data) > LARGEST_FILE:
        megabytes = LARGEST_FILE // 10**6
        raise TraceError(f"the file is too large; it must have at most {megabytes} MB")
    try:
        text = data.decode(ENCODING)
    except UnicodeDecodeError as error:
        line = len(data[: error.start + 1].splitlines())
        where = f"(byte {error.start + 1} is {data[error.start]:#04x}) in line {line}"
        looks = "; it looks like UTF-16" if data[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else ""
        raise TraceError(f"the file is not UTF-8 text {where}{looks}; save it as UTF-8") from None
    if "\0" in text[:BEGINNING]:
        raise TraceError("the file begins with null bytes, as UTF-16 does; save it as UTF-8")
    if not text or text.isspace():
        raise TraceError("the file is empty")
