"""The whole of each lesson by keyboard and by mouse; no press is lost, none is stolen."""

from itertools import pairwise

from browser_tools import EVERY_LESSON, LessonPage, Open


def walk_to_the_end(lesson: LessonPage, go_on: str) -> int:
    """Go from the first frame to the last and return its index; every frame says something new."""
    last = lesson.num_frames - 1
    captions = [lesson.by_id("caption").inner_text()]
    for index in range(1, last + 1):
        if go_on == "click":
            lesson.click("Next")
        else:
            lesson.press(go_on)
        lesson.expect_step(index)
        captions.append(lesson.by_id("caption").inner_text())
    assert all(captions)
    assert all(before != after for before, after in pairwise(captions))
    return last


@EVERY_LESSON
def test_a_lesson_is_walked_through_with_the_keyboard(open_lesson: Open, slug: str) -> None:
    lesson = open_lesson(f"/{slug}")
    last = walk_to_the_end(lesson, "ArrowRight")
    lesson.press("ArrowRight")
    lesson.expect_step(last)
    lesson.press("ArrowLeft")
    lesson.expect_step(last - 1)
    lesson.press("Home")
    lesson.expect_step(0)
    lesson.press("ArrowLeft")
    lesson.expect_step(0)
    lesson.press("End")
    lesson.expect_step(last)
    lesson.expect_query(step=str(last))
    assert lesson.complaints == []


@EVERY_LESSON
def test_a_lesson_is_walked_through_with_the_mouse(open_lesson: Open, slug: str) -> None:
    lesson = open_lesson(f"/{slug}")
    last = walk_to_the_end(lesson, "click")
    lesson.click("Back")
    lesson.expect_step(last - 1)
    lesson.click("First frame")
    lesson.expect_step(0)
    lesson.click("Last frame")
    lesson.expect_step(last)
    assert lesson.complaints == []


def test_a_slide_remote_moves_through_the_lesson(open_lesson: Open) -> None:
    lesson = open_lesson("/growth")
    lesson.press("PageDown", "PageDown")
    lesson.expect_step(2)
    lesson.press("PageUp")
    lesson.expect_step(1)


def test_five_presses_thirty_milliseconds_apart_all_arrive(open_lesson: Open) -> None:
    lesson = open_lesson("/growth")
    for _ in range(5):
        lesson.press("ArrowRight")
        lesson.page.wait_for_timeout(30)
    lesson.expect_step(5)
    lesson.expect_query(step="5")
    lesson.expect_step(5)


def test_keys_that_move_a_slider_do_not_move_the_lesson(open_lesson: Open) -> None:
    lesson = open_lesson("/growth?step=2")
    lesson.slider("block_size").focus()
    lesson.press("ArrowRight")
    lesson.expect_query(block_size="5", step="2")
    lesson.expect_step(2)


def test_play_goes_on_by_itself_and_pause_stops_at_once(open_lesson: Open) -> None:
    lesson = open_lesson("/growth")
    lesson.press("Space")
    lesson.expect_step(1)
    lesson.click("Pause")
    lesson.expect_step(1)
    lesson.expect_query(step="1")


def test_stepping_asks_the_server_for_nothing(open_lesson: Open) -> None:
    lesson = open_lesson("/growth")
    runs: list[str] = []
    app = lesson.page.get_by_test_id("stApp")
    lesson.page.expose_function("ran", lambda state: runs.append(state))
    app.evaluate(
        "app => new MutationObserver(() => ran(app.dataset.testScriptState))"
        ".observe(app, {attributeFilter: ['data-test-script-state']})"
    )
    walk_to_the_end(lesson, "ArrowRight")
    lesson.expect_query(step=str(lesson.num_frames - 1))
    assert runs == []
