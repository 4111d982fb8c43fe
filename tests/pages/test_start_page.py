"""The start page: the course at a glance."""

from dataclasses import replace

import pytest
from app_pages import Open

from pagedkv.lessons import LESSONS


def test_the_lessons_are_listed_in_order_with_question_and_minutes(open_page: Open) -> None:
    app = open_page("")
    assert not app.exception
    text = "\n".join(markdown.value for markdown in app.markdown)
    places = [text.index(lesson.question) for lesson in LESSONS]
    assert places == sorted(places)
    for lesson in LESSONS:
        assert f"{lesson.minutes} min" in text


def test_lesson_one_is_one_click_away(open_page: Open) -> None:
    first = open_page("").get("page_link")[0]
    assert LESSONS[0].title in first.label


def test_it_says_that_real_models_use_longer_pieces_than_characters(open_page: Open) -> None:
    text = "\n".join(markdown.value for markdown in open_page("").markdown)
    assert "One character is one token here" in text


def test_it_says_how_long_all_lessons_take_together(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    longer = (replace(LESSONS[0], minutes=LESSONS[0].minutes + 60), *LESSONS[1:])
    monkeypatch.setattr("pages._start.LESSONS", longer)
    app = open_page("")
    minutes = sum(lesson.minutes for lesson in longer)
    assert f"{len(LESSONS)} lessons in a class of {minutes} minutes" in [
        heading.value for heading in app.subheader
    ]
    assert f"1:{LESSONS[0].minutes:02d} · {LESSONS[1].minutes} min" in [
        markdown.value for markdown in app.markdown
    ]
