"""The planner in a browser: answers at once, an address that holds the choices, files, screens."""

import json
from pathlib import Path

import pytest
from accessibility import serious_violations
from browser_tools import SMALLEST_TYPE, LessonPage, Open
from playwright.sync_api import expect

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
HYBRID = "/plan?plan_model=Gemma-3-27B&plan_weights=51.00&plan_max_len=100000"
SCREENS = [(1280, 800, "light"), (1280, 800, "dark"), (390, 844, "light")]


def set_number(page: LessonPage, name: str, value: str) -> None:
    """Type a number into a field."""
    box = page.page.get_by_role("spinbutton", name=name)
    box.fill(value)
    box.press("Tab")


def expect_line(page: LessonPage, label: str, result: str) -> None:
    """Expect a line of the arithmetic to come to this."""
    line = page.page.locator(".plan-steps tr").filter(has_text=label).first
    expect(line.locator("td").last).to_have_text(result)


def expect_drawn(page: LessonPage, figures: int = 3) -> None:
    expect(page.page.locator(".js-plotly-plot")).to_have_count(figures)
    page.wait_until_idle()


def test_what_is_typed_counts_at_once_and_the_address_brings_it_back(open_start: Open) -> None:
    page = open_start("/plan")
    expect_line(page, "Bytes per token", "131,072 B = 128 KiB")
    set_number(page, "Tensor parallel", "4")
    expect_line(page, "Bytes per token", "32,768 B = 32 KiB")
    set_number(page, "Weights, GiB", "3.5")
    expect_line(page, "Memory for KV", "71,403,831,296 B = 66.5 GiB")
    page.page.get_by_text("KV alone", exact=True).click()
    set_number(page, "For KV, GiB", "10")
    set_number(page, "Block size", "32")
    expect_line(page, "Blocks", "10,240")
    page.page.get_by_text("The whole GPU", exact=True).click()
    expect_line(page, "Memory for KV", "71,403,831,296 B = 66.5 GiB")
    page.wait_for(lambda: page.query().get("plan_block_size") == "32", lambda: str(page.query()))
    again = open_start("/plan?" + page.page.url.split("?")[1])
    expect_line(again, "Bytes per token", "32,768 B = 32 KiB")
    expect_line(again, "Memory for KV", "71,403,831,296 B = 66.5 GiB")
    assert page.complaints == again.complaints == []


def test_a_number_that_a_field_cannot_hold_changes_nothing(open_start: Open) -> None:
    page = open_start("/plan?plan_tp=2")
    expect_line(page, "Bytes per token", "65,536 B = 64 KiB")
    set_number(page, "Tensor parallel", "-3")
    set_number(page, "Block size", "32")
    expect_line(page, "One block", "2,097,152 B = 2 MiB")
    page.expect_query(plan_tp="2", plan_block_size="32")
    assert page.complaints == []


def test_a_whole_number_is_taken_as_it_is_meant_or_refused(open_start: Open) -> None:
    page = open_start("/plan?plan_tp=2")
    box = page.page.get_by_role("spinbutton", name="Maximum length")
    set_number(page, "Maximum length", "1e6")
    expect_line(page, "Blocks of one request of 1,000,000", "62,500")
    expect(box).to_have_value("1000000")
    page.expect_query(plan_tp="2", plan_max_len="1000000")
    set_number(page, "Maximum length", "2.5")
    expect(
        page.page.get_by_text("Maximum length is 2.5; it must be a whole number")
    ).to_be_visible()
    set_number(page, "Maximum length", "64")
    expect_line(page, "Blocks of one request of 64", "4")
    page.expect_query(plan_tp="2", plan_max_len="64")
    assert page.complaints == []


def test_a_config_file_fills_the_fields_and_a_bad_one_leaves_them(
    open_start: Open, tmp_path: Path
) -> None:
    good, bad = tmp_path / "config.json", tmp_path / "bad.json"
    fields = {"num_hidden_layers": 40, "num_attention_heads": 40, "hidden_size": 5120}
    good.write_text(json.dumps(fields))
    bad.write_text(json.dumps({**fields, "num_hidden_layers": "<img src=x onerror=boom()>"}))
    page = open_start("/plan")
    page.page.get_by_text("Your own", exact=True).click()
    page.page.get_by_text("KV alone", exact=True).click()
    upload = page.page.locator("input[type=file]")
    upload.set_input_files(good)
    expect_line(page, "Bytes per token", "819,200 B = 800 KiB")
    page.wait_for(lambda: page.query().get("plan_layers") == "40", lambda: str(page.query()))
    upload.set_input_files(bad)
    expect(page.page.get_by_text("num_hidden_layers is '<img")).to_be_visible()
    expect_line(page, "Bytes per token", "819,200 B = 800 KiB")
    assert page.page.locator("img[src=x]").count() == 0
    again = open_start("/plan?" + page.page.url.split("?")[1])
    expect_line(again, "Bytes per token", "819,200 B = 800 KiB")
    assert page.complaints == again.complaints == []


def test_a_hostile_link_is_told_and_the_fields_work_on(open_start: Open) -> None:
    image = "%3Cimg%20src%3Dx%20onerror%3Dboom()%3E"
    page = open_start(f"/plan?plan_tp={'9' * 400}&plan_model={image}&plan_block_size=32")
    notice = "“Name”, “Tensor parallel” cannot be what the link says; the usual is taken."
    expect(page.page.get_by_text(notice)).to_be_visible()
    expect_line(page, "One block", "4,194,304 B = 4 MiB")
    set_number(page, "Tensor parallel", "2")
    expect_line(page, "One block", "2,097,152 B = 2 MiB")
    page.expect_query(plan_tp="2", plan_block_size="32")
    assert page.page.locator("img[src=x]").count() == 0
    assert page.complaints == []


def test_another_page_and_back_finds_the_choices(open_start: Open) -> None:
    page = open_start("/plan")
    set_number(page, "Tensor parallel", "2")
    expect_line(page, "Bytes per token", "65,536 B = 64 KiB")
    page.page.get_by_role("link", name="Growth", exact=True).first.click()
    page.wait_for_player()
    page.page.get_by_role("link", name="Plan", exact=True).first.click()
    expect_line(page, "Bytes per token", "65,536 B = 64 KiB")
    assert page.complaints == []


@pytest.mark.parametrize(("width", "height", "scheme"), SCREENS)
def test_the_page_fits_and_everybody_can_use_it(
    open_start: Open, width: int, height: int, scheme: str
) -> None:
    page = open_start(HYBRID, width=width, height=height, scheme=scheme)
    expect_line(page, "Longest request that fits", "193,632")
    expect_drawn(page)
    assert page.page.evaluate(OVERFLOW) <= 0
    assert serious_violations(page.page) == []
    smallest, where = page.by_id("stApp").evaluate(SMALLEST_TYPE)
    assert smallest >= 14, f"{where} is set in {smallest} px"
    assert page.complaints == []


def test_a_plan_that_does_not_fit_is_legible_to_everybody(open_start: Open) -> None:
    page = open_start("/plan?plan_model=Llama-3.1-405B&plan_tp=8")
    expect(page.page.get_by_text("The model does not fit")).to_be_visible()
    expect(page.page.get_by_text("Tensor parallelism over 16 such GPUs would do")).to_be_visible()
    expect(page.page.get_by_text("no request of any length fits")).to_be_visible()
    expect_drawn(page, figures=2)
    assert serious_violations(page.page) == []
    assert page.complaints == []
