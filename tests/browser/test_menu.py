"""From page to page: the start page, the menu, and the links at a lesson's foot."""

from browser_tools import Open
from playwright.sync_api import expect

from pagedkv.lessons import LESSONS


def test_one_click_leads_from_the_start_page_into_lesson_one(open_start: Open) -> None:
    start = open_start("/")
    start.page.get_by_role("button", name="Begin with lesson 1").click()
    expect(start.page.get_by_role("heading", name=LESSONS[0].title, level=1)).to_be_visible()
    start.expect_step(0)
    assert start.complaints == []


def test_the_menu_leads_through_the_whole_course(open_start: Open) -> None:
    course = open_start("/")
    for lesson in LESSONS:
        course.page.get_by_role("link", name=lesson.title, exact=True).first.click()
        expect(course.page.get_by_role("heading", name=lesson.title, level=1)).to_be_visible()
        course.expect_step(0)
        assert course.page.url == f"{course.server}/{lesson.slug}"
        course.press("ArrowRight")
        course.expect_step(1)
    course.page.get_by_role("link", name="Start", exact=True).first.click()
    expect(course.page).to_have_url(f"{course.server}/")
    expect(course.page.get_by_role("heading", level=1)).to_have_count(1)
    assert course.complaints == []


def test_the_start_page_fits_every_screen(open_start: Open) -> None:
    start = open_start("/")
    for width in (1280, 1024, 390):
        start.page.set_viewport_size({"width": width, "height": 800})
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert start.page.evaluate(overflow) <= 0, f"{width} wide"
