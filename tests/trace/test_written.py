"""How values are written: one way for board, figures and text form."""

import pytest

from pagedkv.figures.words import WORDS
from pagedkv.figures.words import say_count as say_count_in_figures
from pagedkv.player.text import say_count as say_count_on_board
from pagedkv.player.words import SENTENCES
from pagedkv.trace.written import small, visible


@pytest.mark.parametrize(
    ("number", "written"),
    [(0.0, "0"), (1.23e-7, "1.2e-07"), (9.9e-4, "9.9e-04"), (0.71234, "0.712"), (-2.5, "-2.5")],
)
def test_an_error_is_written_short_and_never_as_power_of_ten_where_it_is_large(number, written):
    assert small(number) == written


def test_white_space_is_seen():
    assert visible("a b\n") == "a␣b↵"


@pytest.mark.parametrize(
    ("say_count", "phrases"), [(say_count_on_board, SENTENCES), (say_count_in_figures, WORDS)]
)
def test_a_count_of_one_takes_the_singular_everywhere(say_count, phrases):
    key = next(key for key, phrase in phrases.items() if phrase.count("|") == 1)
    singular, plural = phrases[key].split("|")
    values = dict.fromkeys(("blocks", "owners"), "")
    assert say_count(key, 1, **values) == singular.format(count=1, **values)
    assert say_count(key, 2, **values) == plural.format(count=2, **values)
