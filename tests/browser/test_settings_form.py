"""Settings act on release, the board stays where it is, and the frame too."""

from browser_tools import Open
from playwright.sync_api import expect


def test_a_slider_acts_when_it_is_released(open_lesson: Open) -> None:
    lesson = open_lesson("/growth")
    before = lesson.by_id("ledger").inner_text()
    track = lesson.page.locator(".st-key-block_size [data-testid=stSliderThumbValue]").locator("..")
    box = track.bounding_box()
    assert box is not None
    mouse = lesson.page.mouse
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 5)
    mouse.down()
    mouse.move(box["x"] + 120, box["y"] + box["height"] - 5, steps=8)
    lesson.page.wait_for_timeout(500)
    assert lesson.by_id("ledger").inner_text() == before
    assert lesson.query() == {}
    mouse.up()
    lesson.wait_for(lambda: "block_size" in lesson.query(), lambda: "nothing came of the release")
    assert int(lesson.query()["block_size"]) > 4


def test_other_settings_redraw_the_board_where_it_is(open_lesson: Open) -> None:
    lesson = open_lesson("/growth?step=2")
    lesson.by_id("player").evaluate("player => { player.dataset.mark = 'here' }")
    lesson.slider("block_size").focus()
    lesson.press("ArrowLeft")
    lesson.expect_query(block_size="3", step="2")
    assert lesson.by_id("player").get_attribute("data-mark") == "here"
    lesson.expect_step(2)


def test_other_settings_keep_the_frame_and_what_lies_beyond_the_end_becomes_the_last(
    open_lesson: Open,
) -> None:
    lesson = open_lesson("/growth?block_size=3")
    last = lesson.num_frames - 1
    lesson.press("End")
    lesson.expect_query(block_size="3", step=str(last))
    lesson.click("Defaults")
    lesson.wait_for(lambda: "block_size" not in lesson.query(), lambda: str(lesson.query()))
    shown = min(last, lesson.num_frames - 1)
    lesson.expect_step(shown)
    lesson.expect_query(step=str(shown))


def test_presses_during_a_run_of_the_server_are_not_lost(open_lesson: Open) -> None:
    lesson = open_lesson("/growth")
    lesson.slider("capacity").focus()
    lesson.press("ArrowRight")
    lesson.by_id("player").focus()
    lesson.press("ArrowRight", "ArrowRight", "ArrowRight")
    lesson.expect_query(capacity="25", step="3")
    lesson.expect_step(3)


def test_of_many_quick_changes_the_last_one_counts(open_lesson: Open) -> None:
    lesson = open_lesson("/growth")
    lesson.slider("capacity").focus()
    for _ in range(6):
        lesson.press("ArrowRight")
        lesson.page.wait_for_timeout(60)
    lesson.expect_query(capacity="30")
    lesson.expect_setting("capacity", 30)
    lesson.wait_for(
        lambda: "7 blocks" in lesson.by_id("ledger").inner_text(),
        lambda: lesson.by_id("ledger").inner_text(),
    )


def test_the_board_says_what_these_settings_cannot_show(open_lesson: Open) -> None:
    lesson = open_lesson("/growth?block_size=32&capacity=4")
    expect(lesson.page.get_by_role("note").first).to_be_visible()
    assert lesson.num_frames >= 1
    assert lesson.complaints == []


def test_the_preset_of_copy_on_write_shows_the_case_without_a_copy(open_lesson: Open) -> None:
    lesson = open_lesson("/copy-on-write")
    lesson.click("Prompt fills its blocks")
    lesson.expect_query(prompt_length="8")
    lesson.expect_setting("prompt_length", 8)
