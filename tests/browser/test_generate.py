"""The page that generates, in a browser: seen as it comes, stopped, and looked into."""

import pytest
from accessibility import serious_violations
from browser_tools import SMALLEST_TYPE, LessonPage, Open
from playwright.sync_api import Locator, expect

SHORT = "/generate?num_answers=3&length=6&seed=2"
PROOF = "forward pass that knows no cache give the same"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SCREENS = [(1280, 800, "light"), (1280, 800, "dark"), (390, 844, "light")]


def generated(open_start: Open, path: str = SHORT, **window: object) -> LessonPage:
    """The page with a run that has ended."""
    page = open_start(path, **window)
    expect(page.page.get_by_text(PROOF)).to_be_visible()
    page.wait_until_idle()
    return page


def set_number(page: LessonPage, name: str, value: int) -> None:
    """Type a number into the form."""
    box = page.page.get_by_role("spinbutton", name=name)
    box.fill(str(value))
    box.press("Tab")


def points(page: LessonPage) -> Locator:
    """The points of the measured line: the third that is drawn."""
    lines = page.page.locator(".js-plotly-plot .scatterlayer .trace")
    return lines.nth(2).locator(".points path")


def test_asked_for_in_the_form_it_comes_with_blocks_and_proof(open_start: Open) -> None:
    page = open_start("/generate")
    set_number(page, "Answers", 2)
    set_number(page, "New tokens", 5)
    page.click("Generate")
    expect(page.page.get_by_text(f"{PROOF} 10 characters")).to_be_visible()
    expect(page.page.get_by_test_id("stCode")).to_have_count(2)
    expect(page.page.get_by_text("10 characters ·")).to_be_visible()
    expect(points(page)).to_have_count(5)
    assert page.complaints == []


def test_a_long_run_is_seen_coming_and_stop_keeps_what_there_is(open_start: Open) -> None:
    page = open_start("/generate")
    set_number(page, "New tokens", 128)
    page.click("Generate")
    expect(page.page.get_by_test_id("stCode")).to_have_count(4)
    expect(page.page.get_by_role("progressbar")).to_be_visible()
    expect(page.page.get_by_text("characters per second")).to_be_visible()
    page.page.wait_for_timeout(500)
    page.click("Stop here")
    expect(page.page.get_by_text("Stopped after")).to_be_visible()
    expect(page.page.get_by_text(PROOF)).to_be_visible()
    expect(page.page.get_by_role("button", name="Stop here")).to_have_count(0)
    texts = page.page.get_by_test_id("stCode").all_inner_texts()
    assert len(texts) == 4
    assert all(0 < len(text) < 128 for text in texts)
    assert page.complaints == []


def test_a_click_on_a_point_opens_its_moment_in_the_player(open_start: Open) -> None:
    page = generated(open_start)
    expect(page.by_id("player")).to_have_count(0)
    points(page).nth(3).click(force=True)
    page.wait_for_player()
    page.expect_step(3)
    expect(page.by_id("caption")).to_contain_text("each took a new one")
    points(page).nth(1).click(force=True)
    page.expect_step(1)
    expect(page.by_id("caption")).to_contain_text("which was shared")
    page.by_id("player").focus()
    page.press("ArrowRight")
    page.expect_step(2)
    expect(points(page)).to_have_count(6)
    assert page.complaints == []


def test_the_players_link_leads_to_the_same_run_and_moment(open_start: Open) -> None:
    page = generated(open_start)
    set_number(page, "Execution", 3)
    page.wait_for_player()
    page.press("Tab")
    page.expect_step(2)
    texts = page.page.get_by_test_id("stCode").all_inner_texts()
    address = page.by_id("permalink").get_attribute("href")
    assert address is not None
    again = generated(open_start, address.removeprefix(page.server))
    again.wait_for_player()
    again.expect_step(2)
    assert again.page.get_by_test_id("stCode").all_inner_texts() == texts
    assert again.complaints == []


@pytest.mark.parametrize(("width", "height", "scheme"), SCREENS)
def test_the_page_fits_and_everybody_can_use_it(
    open_start: Open, width: int, height: int, scheme: str
) -> None:
    page = generated(open_start, f"{SHORT}&first=1", width=width, height=height, scheme=scheme)
    page.wait_for_player()
    assert page.page.evaluate(OVERFLOW) <= 0
    assert serious_violations(page.page) == []
    smallest, where = page.by_id("stApp").evaluate(SMALLEST_TYPE)
    assert smallest >= 14, f"{where} is set in {smallest} px"
    assert page.complaints == []
