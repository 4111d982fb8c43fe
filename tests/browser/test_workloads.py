"""The page of workloads in a browser: run, stopped, fed with a trace, and used by everybody."""

from pathlib import Path

import pytest
from accessibility import serious_violations
from browser_tools import SMALLEST_TYPE, LessonPage, Open
from playwright.sync_api import expect

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SCREENS = [(1280, 800, "light"), (1280, 800, "dark"), (390, 844, "light")]


def set_number(page: LessonPage, name: str, value: int | str) -> None:
    """Type a number into the form, or what is to be one."""
    box = page.page.get_by_role("spinbutton", name=name)
    box.fill(str(value))
    box.press("Tab")
    page.wait_until_idle()


def simulated(page: LessonPage, requests: int | str = 2000) -> LessonPage:
    """Run the study as it is chosen, with so many requests."""
    set_number(page, "Requests", requests)
    page.click("Run")
    expect(page.page.get_by_role("heading", name="Beside the paper")).to_be_visible()
    page.wait_until_idle()
    return page


@pytest.mark.parametrize(("width", "height", "scheme"), SCREENS)
def test_policies_are_drawn_beside_the_paper_and_everybody_can_use_the_page(
    open_start: Open, width: int, height: int, scheme: str
) -> None:
    page = open_start("/workloads", width=width, height=height, scheme=scheme)
    simulated(page)
    expect(page.page.locator(".js-plotly-plot")).to_have_count(2)
    expect(page.page.get_by_text("In the paper it is 4.3 times")).to_be_visible()
    assert page.page.evaluate(OVERFLOW) <= 0
    assert serious_violations(page.page) == []
    smallest, where = page.by_id("stApp").evaluate(SMALLEST_TYPE)
    assert smallest >= 14, f"{where} is set in {smallest} px"
    assert page.complaints == []


def test_a_long_study_is_seen_coming_and_stop_keeps_what_there_is(open_start: Open) -> None:
    page = simulated(open_start("/workloads"))
    set_number(page, "Requests", 100_000)
    page.click("Run")
    expect(page.page.get_by_role("progressbar")).to_be_visible()
    expect(page.page.get_by_text("Last run")).to_have_count(0)  # of the run before
    expect(page.page.locator(".js-plotly-plot")).to_have_count(0)
    expect(page.page.get_by_role("progressbar")).to_be_visible()
    expect(page.page.get_by_text("of 400,000 requests in all")).to_be_visible()
    page.page.wait_for_timeout(1000)
    page.click("Stop here")
    expect(page.page.get_by_text("Stopped.", exact=True)).to_be_visible()
    expect(page.page.locator(".js-plotly-plot")).to_have_count(2)
    expect(page.page.get_by_role("button", name="Stop here")).to_have_count(0)
    assert page.complaints == []


def test_a_trace_of_ones_own_is_read_and_simulated(open_start: Open, tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    rows = "\n".join(f"{number},{number + 1},20" for number in range(40))
    trace.write_text(f"arrival,input,output\n{rows}\n3,<b>4</b>,5\n")
    page = open_start("/workloads")
    page.page.get_by_test_id("stSelectbox").first.click()
    page.page.get_by_role("option", name="A trace file").click()
    page.page.locator("input[type=file]").set_input_files(trace)
    expect(page.page.get_by_text("1 row is bad, 40 good: line 42: ")).to_be_visible()
    page.page.get_by_text("Leave the bad rows out (1)").click()
    expect(page.page.get_by_text("40 requests over 39 s")).to_be_visible()
    page.wait_until_idle()
    page.click("Run")
    expect(page.page.get_by_text("they arrive as the trace says")).to_be_visible()
    assert page.page.evaluate(OVERFLOW) <= 0
    assert page.complaints == []


def test_a_trace_stays_open_until_it_is_closed(open_start: Open, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("arrival,input,output\n0,30,20\n1,30,20\n")
    bad.write_text("a,b\n1,2\n")
    page = open_start("/workloads")
    page.page.get_by_test_id("stSelectbox").first.click()
    page.page.get_by_role("option", name="A trace file").click()
    page.page.locator("input[type=file]").set_input_files(good)
    expect(page.page.get_by_text("2 requests over 1 s")).to_be_visible()
    page.page.locator("input[type=file]").set_input_files(bad)
    expect(page.page.get_by_text("good.csv stays open")).to_be_visible()
    expect(page.page.get_by_text("bad.csv: the columns 'a, b' are of no known")).to_be_visible()
    page.page.get_by_role("button", name="Remove bad.csv").click()
    expect(page.page.get_by_text("Open: good.csv")).to_be_visible()
    expect(page.page.get_by_text("2 requests over 1 s")).to_be_visible()
    page.click("Close")
    expect(page.page.get_by_text("Open: good.csv")).to_have_count(0)
    page.click("Run")
    expect(page.page.get_by_text("no trace is open")).to_be_visible()
    assert page.complaints == []


def test_a_large_trace_reaches_the_server(open_start: Open, tmp_path: Path) -> None:
    trace = tmp_path / "large.csv"
    rows = "\n".join(f"{number / 8:.6f},{number % 900 + 1},20" for number in range(200_000))
    trace.write_text(f"arrival,input,output\n{rows}\n")
    assert trace.stat().st_size > 3_000_000
    page = open_start("/workloads")
    page.page.get_by_test_id("stSelectbox").first.click()
    page.page.get_by_role("option", name="A trace file").click()
    page.page.locator("input[type=file]").set_input_files(trace)
    expect(page.page.get_by_text("200,000 requests over 25,000 s")).to_be_visible(timeout=60_000)
    assert page.complaints == []


def test_a_number_is_read_as_it_is_written(open_start: Open) -> None:
    page = simulated(open_start("/workloads"), requests="2e3")
    expect(page.page.get_by_text("2,000 requests, ")).to_be_visible()
    set_number(page, "Requests", "2.5")
    set_number(page, "Slots of KV memory", 9000)
    page.click("Run")
    expect(page.page.get_by_text("requests is 2.5; it must be a whole number")).to_be_visible()
    expect(page.page.get_by_role("spinbutton", name="Requests")).to_have_value("2.5")
    expect(page.page.get_by_role("spinbutton", name="Slots of KV memory")).to_have_value("9000")
    expect(page.page.get_by_text("2,000 requests, ")).to_be_visible()
    assert page.complaints == []


def test_the_menu_leads_to_it(open_start: Open) -> None:
    page = open_start("/")
    page.page.set_viewport_size({"width": 1800, "height": 800})
    page.page.get_by_role("link", name="Workloads", exact=True).first.click()
    expect(page.page.get_by_role("heading", name="Workloads", level=1)).to_be_visible()
    assert page.page.url == f"{page.server}/workloads"


def test_what_was_chosen_and_opened_is_there_again_after_another_page(
    open_start: Open, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("arrival,input,output\n0,30,20\n1,30,20\n")
    page = open_start("/workloads")
    set_number(page, "Slots of KV memory", 9000)
    page.page.get_by_test_id("stSelectbox").first.click()
    page.page.get_by_role("option", name="A trace file").click()
    page.page.locator("input[type=file]").set_input_files(trace)
    expect(page.page.get_by_text("2 requests over 1 s")).to_be_visible()
    page.page.get_by_role("link", name="Plan", exact=True).first.click()
    expect(page.page.get_by_role("heading", name="Plan", level=1)).to_be_visible()
    page.page.go_back()
    expect(page.page.get_by_text("Open: trace.csv")).to_be_visible()
    expect(page.page.get_by_text("2 requests over 1 s")).to_be_visible()
    expect(page.page.get_by_role("spinbutton", name="Slots of KV memory")).to_have_value("9000")
    assert page.complaints == []
