"""The start page: the course at a glance."""

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


def test_the_lessons_fit_a_class_of_fifty_minutes() -> None:
    assert sum(lesson.minutes for lesson in LESSONS) <= 50
