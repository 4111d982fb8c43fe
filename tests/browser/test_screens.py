"""Projector, laptop, tablet and telephone; light and dark; everybody can use the pages."""

import pytest
from accessibility import serious_violations
from browser_tools import EVERY_LESSON, SMALLEST_TYPE, LessonPage, Open
from playwright.sync_api import expect

SCREENS = [(1280, 640), (1280, 800), (1024, 768), (390, 844)]
SCHEMES = ["light", "dark"]
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@EVERY_LESSON
def test_nothing_is_wider_than_the_screen(open_lesson: Open, slug: str) -> None:
    lesson = open_lesson(f"/{slug}")
    for width, height in SCREENS:
        lesson.page.set_viewport_size({"width": width, "height": height})
        lesson.press("Home", "End")
        lesson.page.wait_for_timeout(100)
        assert lesson.page.evaluate(OVERFLOW) <= 0, f"{width} wide"
        box = lesson.box("player")
        assert 0 <= box["x"] < box["right"] <= width
    assert lesson.complaints == []


@EVERY_LESSON
def test_title_to_ledger_fit_a_projector_without_scrolling(open_lesson: Open, slug: str) -> None:
    lesson = open_lesson(f"/{slug}", width=1280, height=640)
    for index in range(lesson.num_frames):
        lesson.expect_step(index)
        for part in ("board", "caption", "ledger"):
            box = lesson.box(part)
            assert 0 <= box["y"] < box["bottom"] <= 640, f"{part} of frame {index}"
        lesson.press("ArrowRight")


@EVERY_LESSON
def test_head_and_settings_leave_the_screen_to_the_board(open_lesson: Open, slug: str) -> None:
    lesson = open_lesson(f"/{slug}", width=1280, height=640)
    assert lesson.box("player")["y"] <= 165


@pytest.mark.parametrize("scheme", SCHEMES)
def test_both_themes_reach_the_board(open_lesson: Open, scheme: str) -> None:
    lesson = open_lesson("/growth", scheme=scheme)
    page = lesson.by_id("stApp").evaluate("app => getComputedStyle(app).backgroundColor")
    text = lesson.by_id("caption").evaluate("caption => getComputedStyle(caption).color")
    is_dark = scheme == "dark"
    assert (lightness(page) < 0.5) == is_dark
    assert (lightness(text) > 0.5) == is_dark


def test_a_theme_chosen_in_the_menu_reaches_the_board_and_leaves_the_frame(
    open_lesson: Open,
) -> None:
    lesson = open_lesson("/growth?step=2", scheme="light")
    lesson.mark()
    lesson.by_id("stMainMenu").get_by_role("button").click()
    lesson.page.get_by_role("radio", name="Dark").or_(
        lesson.page.get_by_role("menuitemradio", name="Dark")
    ).first.click(force=True)
    expect(lesson.by_id("player")).to_have_attribute("data-theme", "dark")
    lesson.expect_step(2)
    assert lesson.is_marked()


def test_nothing_around_the_player_is_set_smaller_than_14_px(open_lesson: Open) -> None:
    lesson = open_lesson("/copy-on-write?block_size=99")
    expect(lesson.page.get_by_role("alert")).to_be_visible()
    lesson.page.get_by_text("Memory, frame by frame", exact=True).click()
    expect(lesson.page.locator(".js-plotly-plot")).to_be_visible()
    smallest, where = lesson.by_id("stApp").evaluate(SMALLEST_TYPE)
    assert smallest >= 14, f"{where} is set in {smallest} px"


def test_nothing_of_the_start_page_is_set_smaller_than_14_px(open_start: Open) -> None:
    start = open_start("/")
    start.page.get_by_text("The words of the course").click()
    smallest, where = start.by_id("stApp").evaluate(SMALLEST_TYPE)
    assert smallest >= 14, f"{where} is set in {smallest} px"


def lightness(colour: str) -> float:
    """How light an ``rgb(...)`` colour is, from 0 to 1."""
    channels = colour[colour.index("(") + 1 : -1].split(",")[:3]
    return sum(float(channel) for channel in channels) / (3 * 255)


@pytest.mark.parametrize("scheme", SCHEMES)
@EVERY_LESSON
def test_axe_finds_no_serious_violation_in_a_lesson(
    open_lesson: Open, slug: str, scheme: str
) -> None:
    lesson = open_lesson(f"/{slug}", scheme=scheme)
    assert serious_violations(lesson.page) == []
    lesson.press("End")
    assert serious_violations(lesson.page) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_no_serious_violation_on_the_start_page(open_start: Open, scheme: str) -> None:
    start: LessonPage = open_start("/", scheme=scheme)
    start.page.get_by_text("The words of the course").click()
    assert serious_violations(start.page) == []
    assert start.complaints == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("picture, count", [("Memory, frame by frame", 1), ("Attention maps", 3)])
def test_a_picture_of_the_whole_lesson_is_drawn_and_stays_while_stepping(
    open_lesson: Open, picture: str, count: int, scheme: str
) -> None:
    lesson = open_lesson("/growth", scheme=scheme)
    lesson.mark()
    lesson.page.get_by_text(picture, exact=True).click()
    plots = lesson.page.locator(".js-plotly-plot")
    expect(plots).to_have_count(count)  # the first in the page need not be the first to be drawn
    lesson.wait_until_idle()
    drawn = plots.first
    drawn.evaluate("plot => { plot.dataset.mark = 'here' }")
    assert serious_violations(lesson.page) == []
    lesson.by_id("player").focus()
    lesson.press("ArrowRight", "ArrowRight")
    lesson.expect_query(step="2")
    assert drawn.get_attribute("data-mark") == "here"
    assert lesson.is_marked()
    assert lesson.complaints == []
