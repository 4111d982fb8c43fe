"""What a refusal repeats of a value from outside: enough to know it by, and no more."""

import pytest

from pagedkv.checks import LONGEST_NAMED, named


@pytest.mark.parametrize("value", ["", "a'b", 7, None, True, [1, "x"], "x" * (LONGEST_NAMED - 2)])
def test_a_short_value_is_named_as_python_writes_it(value):
    assert named(value) == repr(value)


@pytest.mark.parametrize("value", ["x" * (LONGEST_NAMED - 1), "x" * 10**6, list(range(99))])
def test_a_long_value_is_named_by_its_beginning(value):
    assert named(value) == f"{repr(value)[: LONGEST_NAMED - 1]}…"


def test_nothing_beyond_ascii_and_no_control_character_is_repeated():
    written = named("é\u202e\n\x1b[31m<b>")
    assert written.isascii()
    assert written.isprintable()


def test_a_number_that_python_does_not_write_is_named_too():
    assert named(10**5000) == "a value too long to write"
