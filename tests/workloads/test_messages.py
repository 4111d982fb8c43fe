"""What stands in a message: values cut short, whatever they are, and counts with their noun."""

import pytest

from pagedkv.workloads.messages import counted, cut


def nested(depth: int) -> list:
    inner: list = []
    for _ in range(depth):
        inner = [inner]
    return inner


@pytest.mark.parametrize("value", ["x" * 9000, "\x1b" * 50, 10**4000, [0] * 1000, "x" * 39])
def test_a_long_value_is_cut(value: object) -> None:
    assert len(cut(value)) == 40
    assert cut(value).endswith("…")
    assert cut(value).isprintable()


@pytest.mark.parametrize("value", ["x" * 38, 7, None, "it's"])
def test_a_short_value_is_written_whole(value: object) -> None:
    assert cut(value) == repr(value)


@pytest.mark.parametrize("value", [10**5000, nested(100_000)], ids=["digits", "brackets"])
def test_what_python_cannot_write_is_said_to_be_too_long(value: object) -> None:
    assert cut(value) == "a value too long to write"


def test_one_has_no_plural() -> None:
    written = [counted(n, "row") for n in (0, 1, 2, 2000)]
    assert written == ["0 rows", "1 row", "2 rows", "2,000 rows"]
