"""The address always leads back to what is shown, and forgives what it cannot have."""

import pytest
from browser_tools import EVERY_LESSON, Open
from playwright.sync_api import expect

VIEW = "block_size=3&capacity=40&prompt_length=8&step=2"


@EVERY_LESSON
def test_a_link_restores_settings_and_frame(open_lesson: Open, slug: str) -> None:
    lesson = open_lesson(f"/{slug}?{VIEW}")
    lesson.expect_setting("block_size", 3)
    lesson.expect_setting("capacity", 40)
    lesson.expect_setting("prompt_length", 8)
    lesson.expect_step(2)
    lesson.expect_query(block_size="3", capacity="40", prompt_length="8", step="2")
    assert lesson.complaints == []


@pytest.mark.parametrize("slug", ["shared-prefix", "freeing"])
def test_any_lesson_may_be_the_first_request_to_a_fresh_server(
    open_lesson: Open, fresh_server: str, slug: str
) -> None:
    lesson = open_lesson(f"/{slug}?{VIEW}", at=fresh_server)
    lesson.expect_step(2)
    lesson.expect_setting("block_size", 3)
    lesson.expect_query(block_size="3", capacity="40", prompt_length="8", step="2")
    assert lesson.complaints == []


def test_a_link_is_right_as_the_first_request_to_a_fresh_server(
    open_lesson: Open, fresh_server: str
) -> None:
    lesson = open_lesson(f"/copy-on-write?{VIEW}&present=1", at=fresh_server)
    lesson.expect_step(2)
    lesson.expect_query(block_size="3", capacity="40", prompt_length="8", step="2", present="1")
    lesson.press("p")
    expect(lesson.page.get_by_role("heading", name="Copy-on-write", level=1)).to_be_visible()
    expect(lesson.page.get_by_role("link", name="Freeing").first).to_be_visible()
    lesson.expect_setting("prompt_length", 8)
    assert lesson.complaints == []


def test_the_address_follows_the_learner_and_survives_a_reload(open_lesson: Open) -> None:
    lesson = open_lesson("/growth")
    lesson.press("ArrowRight", "ArrowRight", "ArrowRight")
    lesson.expect_query(step="3")
    lesson.slider("block_size").focus()
    lesson.press("ArrowLeft")
    lesson.expect_query(block_size="3", step="3")
    link = lesson.by_id("permalink")
    assert link.get_attribute("href") == lesson.page.url
    lesson.page.reload()
    lesson.expect_step(3)
    lesson.expect_setting("block_size", 3)


def test_a_view_at_the_defaults_has_a_plain_address(open_lesson: Open) -> None:
    lesson = open_lesson("/growth?block_size=4&step=0&present=0")
    lesson.expect_query()
    lesson.press("ArrowRight")
    lesson.expect_query(step="1")
    lesson.press("ArrowLeft")
    lesson.expect_query()


@pytest.mark.parametrize(
    ("query", "name", "value", "told"),
    [
        ("block_size=99", "block_size", 32, "block_size is 99"),
        ("block_size=four", "block_size", 4, "block_size must be a whole number"),
        ("capacity=40&capacity=80", "capacity", 40, "capacity is given 2 times"),
        ("prompt_length=-7", "prompt_length", 1, "prompt_length is -7"),
    ],
)
def test_a_setting_that_a_link_cannot_have_is_replaced_and_told(
    open_lesson: Open, query: str, name: str, value: int, told: str
) -> None:
    lesson = open_lesson(f"/growth?{query}")
    lesson.expect_setting(name, value)
    expect(lesson.page.get_by_role("alert").filter(has_text=told)).to_be_visible()
    default = {"block_size": 4, "capacity": 24, "prompt_length": 6}[name]
    lesson.expect_query(**({} if value == default else {name: str(value)}))
    assert lesson.complaints == []


def test_a_step_beyond_the_end_shows_the_last_frame_and_says_so(open_lesson: Open) -> None:
    lesson = open_lesson("/growth?step=500")
    last = lesson.num_frames - 1
    lesson.expect_step(last)
    expect(lesson.page.get_by_role("alert").filter(has_text="step is 500")).to_be_visible()
    lesson.expect_query(step=str(last))


def test_a_text_from_a_link_never_becomes_part_of_the_page(open_lesson: Open) -> None:
    lesson = open_lesson("/growth?block_size=<img src=x onerror=boom()>&step=<b>1</b>")
    assert lesson.page.locator("img[src=x]").count() == 0
    assert "boom" not in lesson.page.locator("body").inner_text()
    assert lesson.complaints == []


def test_the_back_button_returns_to_the_view_that_was_left(open_lesson: Open) -> None:
    lesson = open_lesson("/growth?block_size=3&step=2")
    lesson.page.get_by_role("link", name="Freeing").first.click()
    expect(lesson.page.get_by_role("heading", name="Freeing", level=1)).to_be_visible()
    lesson.expect_step(0)
    lesson.expect_setting("block_size", 4)
    lesson.page.go_back()
    expect(lesson.page.get_by_role("heading", name="Growth", level=1)).to_be_visible()
    lesson.expect_setting("block_size", 3)
    lesson.expect_step(2)
    lesson.expect_query(block_size="3", step="2")
