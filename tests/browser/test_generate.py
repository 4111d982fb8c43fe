"""The page that generates, in a browser: seen as it comes, stopped, and looked into."""

import pytest
from accessibility import serious_violations
from browser_tools import SMALLEST_TYPE, LessonPage, Open
from playwright.sync_api import Locator, expect

from pagedkv.generate import LONGEST_PROMPT

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


def answers(page: LessonPage) -> Locator:
    """The texts of the answers, on their way or kept."""
    places = ":is(.st-key-generate_running, .st-key-generate_answers)"
    return page.page.locator(f"{places} [data-testid=stText]")


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
    expect(answers(page)).to_have_count(2)
    expect(page.page.get_by_text("10 characters ·")).to_be_visible()
    expect(points(page)).to_have_count(5)
    assert page.complaints == []


def test_a_long_run_is_seen_coming_and_stop_keeps_what_there_is(open_start: Open) -> None:
    page = open_start("/generate")
    set_number(page, "New tokens", 128)
    page.click("Generate")
    expect(answers(page)).to_have_count(4)
    expect(page.page.get_by_role("progressbar")).to_be_visible()
    expect(page.page.get_by_text("characters per second")).to_be_visible()
    page.page.wait_for_timeout(500)
    page.click("Stop here")
    expect(page.page.get_by_text("Stopped after")).to_be_visible()
    expect(page.page.get_by_text(PROOF)).to_be_visible()
    expect(page.page.get_by_role("button", name="Stop here")).to_have_count(0)
    texts = answers(page).all_inner_texts()
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
    texts = answers(page).all_inner_texts()
    address = page.by_id("permalink").get_attribute("href")
    assert address is not None
    again = generated(open_start, address.removeprefix(page.server))
    again.wait_for_player()
    again.expect_step(2)
    assert answers(again).all_inner_texts() == texts
    assert again.complaints == []


def choices_of(page: LessonPage) -> dict[str, str]:
    """What the address says of length, seed and the open frame."""
    wanted = ("length", "seed", "first", "step", "present")
    return {name: value for name, value in page.query().items() if name in wanted}


def expect_choices(page: LessonPage, **expected: str) -> None:
    page.wait_for(lambda: choices_of(page) == expected, lambda: f"{choices_of(page)}")


def test_the_address_follows_each_run_and_survives_reload_and_back(open_start: Open) -> None:
    page = generated(open_start, f"{SHORT}&first=0&step=3")
    page.wait_for_player()
    expect_choices(page, length="6", seed="2", first="0", step="3")
    set_number(page, "Seed", 5)
    set_number(page, "New tokens", 4)
    page.click("Generate")
    expect(page.page.get_by_text(f"{PROOF} 12 characters")).to_be_visible()
    page.wait_until_idle()
    expect_choices(page, length="4", seed="5")
    texts = answers(page).all_inner_texts()
    page.page.reload()
    expect(page.page.get_by_text(f"{PROOF} 12 characters")).to_be_visible()
    page.wait_until_idle()
    assert answers(page).all_inner_texts() == texts
    expect_choices(page, length="4", seed="5")
    page.page.get_by_role("link", name="Sandbox").first.click()
    page.page.wait_for_url("**/sandbox*")
    expect(page.page.get_by_role("heading", name="Sandbox")).to_be_visible()
    page.wait_until_idle()
    assert "length" not in page.query()
    page.page.go_back()
    expect(page.page.get_by_text(f"{PROOF} 12 characters")).to_be_visible()
    page.wait_until_idle()
    assert answers(page).all_inner_texts() == texts
    expect_choices(page, length="4", seed="5")
    assert page.complaints == []


def test_closing_a_moment_takes_it_out_of_the_address(open_start: Open) -> None:
    page = generated(open_start, SHORT)
    expect_choices(page, length="6", seed="2")
    link = page.by_id("run-link").get_attribute("href")
    assert link == page.page.url
    set_number(page, "Execution", 3)
    page.wait_for_player()
    expect_choices(page, length="6", seed="2", first="0", step="2")
    box = page.page.get_by_role("spinbutton", name="Execution")
    box.fill("")
    box.press("Tab")
    expect(page.by_id("player")).to_have_count(0)
    expect_choices(page, length="6", seed="2")
    assert page.complaints == []


def test_a_link_that_presents_fills_the_screen(open_start: Open) -> None:
    page = generated(open_start, f"{SHORT}&first=0&step=3&present=1")
    page.wait_for_player()
    presented = page.page.locator("[data-present=true]")
    expect(presented).to_have_count(1)
    page.expect_step(3)
    expect_choices(page, length="6", seed="2", first="0", step="3", present="1")
    page.press("p")
    expect(presented).to_have_count(0)
    expect_choices(page, length="6", seed="2", first="0", step="3")


def open_index(page: LessonPage) -> int:
    """The frame of the run that the address names."""
    return sum(int(page.query().get(name, 0)) for name in ("first", "step"))


def test_later_leads_on_where_the_player_ends(open_start: Open) -> None:
    prompt = "x" * LONGEST_PROMPT  # the longer the answers are, the fewer frames are sent
    page = generated(open_start, f"/generate?num_answers=8&length=12&first=0&prompt={prompt}")
    page.wait_for_player()
    before = page.step_label.inner_text()
    assert before.startswith("1 of ")
    sent = int(before.removeprefix("1 of "))
    assert sent < 12
    page.click("Later")
    moment = page.page.get_by_role("spinbutton", name="Execution")
    expect(moment).to_have_value(str(sent + 1))
    page.wait_for(lambda: open_index(page) == sent, lambda: f"{page.query()} opens another")
    page.click("Earlier")
    page.wait_for(lambda: open_index(page) < sent, lambda: f"{page.query()} opens another")
    assert page.complaints == []


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
