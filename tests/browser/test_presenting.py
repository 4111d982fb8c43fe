"""Presenter mode: board, caption and player alone, in type that the last row can read."""

from browser_tools import EVERY_LESSON, SMALLEST_TYPE, LessonPage, Open
from playwright.sync_api import expect


def fills_the_window(lesson: LessonPage) -> bool:
    box = lesson.box("player")
    size = lesson.page.viewport_size
    assert size is not None
    return (box["x"], box["y"], box["right"], box["bottom"]) == (
        0,
        0,
        size["width"],
        size["height"],
    )


def test_p_presents_and_p_goes_back(open_lesson: Open) -> None:
    lesson = open_lesson("/growth?step=2")
    assert not fills_the_window(lesson)
    lesson.press("p")
    lesson.expect_query(step="2", present="1")
    assert fills_the_window(lesson)
    lesson.press("ArrowRight")
    lesson.expect_query(step="3", present="1")
    lesson.press("p")
    lesson.expect_query(step="3")
    assert not fills_the_window(lesson)
    assert lesson.complaints == []


def test_a_button_presents(open_lesson: Open) -> None:
    lesson = open_lesson("/growth")
    lesson.page.get_by_role("button", name="Present").click()
    lesson.expect_query(present="1")
    assert fills_the_window(lesson)


@EVERY_LESSON
def test_a_presented_lesson_is_readable_from_the_last_row(open_lesson: Open, slug: str) -> None:
    lesson = open_lesson(f"/{slug}?present=1", width=1280, height=720)
    assert fills_the_window(lesson)
    for index in range(lesson.num_frames):
        lesson.expect_step(index)
        expect(lesson.by_id("caption")).to_be_in_viewport(ratio=1)
        expect(lesson.by_id("board")).to_be_in_viewport(ratio=1)
        hidden = lesson.by_id("board").evaluate("board => board.scrollHeight - board.clientHeight")
        assert hidden <= 0, f"{hidden} px of frame {index} are out of sight"
        smallest, where = lesson.by_id("player").evaluate(SMALLEST_TYPE)
        assert smallest >= 24, f"{where} of frame {index} is set in {smallest} px"
        lesson.press("ArrowRight")
    assert lesson.complaints == []
