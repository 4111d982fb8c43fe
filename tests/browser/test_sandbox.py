"""The sandbox in a browser: actions, going on from an earlier frame, links, files."""

import json
from pathlib import Path

import pytest
from accessibility import serious_violations
from browser_tools import LessonPage, Open
from playwright.sync_api import expect

from pagedkv.sandbox.actions import DecodeToken, EngineStep, Finish, Fork, NewRequest
from pagedkv.sandbox.as_file import read_file, to_file
from pagedkv.sandbox.as_link import read_link, to_link
from pagedkv.sandbox.script import Pool, Script

SIX = NewRequest("ROMEO:")
SESSION = Script(Pool(), (SIX, Fork(1), EngineStep(), EngineStep()))


def do(page: LessonPage, label: str, frames: int) -> None:
    """Press a button and wait for the frame that it adds, which is opened."""
    page.click(label)
    expect(page.step_label).to_have_text(f"{frames} of {frames}")


def session(page: LessonPage) -> Script:
    return read_link(page.query()["s"])


@pytest.mark.parametrize("width", [1280, 390])
def test_a_session_from_the_first_action_to_undo(open_lesson: Open, width: int):
    page = open_lesson("/sandbox", width=width)
    expect(page.step_label).to_have_text("1 of 1")
    do(page, "New request", 2)
    expect(page.by_id("slot-P0-0")).to_have_attribute("data-state", "stored")
    do(page, "Fork", 3)
    expect(page.by_id("refcount-P0")).to_contain_text("2")
    do(page, "Decode one token", 4)
    expect(page.by_id("table-R1-L1")).to_have_attribute("data-block", "2")
    page.click("Undo")
    expect(page.step_label).to_have_text("3 of 3")
    page.click("Redo")
    expect(page.step_label).to_have_text("4 of 4")
    assert page.complaints == []


def test_who_waits_stands_in_the_queue(open_lesson: Open):
    page = open_lesson(f"/sandbox?s={to_link(Script(Pool(4, 12), (SIX, SIX)))}")
    expect(page.by_id("waiting-R2")).to_be_visible()
    assert page.complaints == []


def test_going_on_from_an_earlier_frame(open_lesson: Open):
    page = open_lesson(f"/sandbox?s={to_link(SESSION)}&step=1")
    expect(page.step_label).to_have_text("2 of 5")
    page.by_id("branch").click()
    expect(page.step_label).to_have_text("2 of 2")
    expect(page.by_id("branch")).to_be_disabled()
    do(page, "One engine step", 3)
    assert session(page).actions == (SIX, EngineStep())
    assert page.complaints == []


def test_stepping_asks_the_server_for_nothing_and_the_address_follows(open_lesson: Open):
    page = open_lesson(f"/sandbox?s={to_link(SESSION)}")
    expect(page.step_label).to_have_text("5 of 5")
    page.mark()
    page.by_id("player").focus()
    page.press("ArrowLeft", "ArrowLeft")
    page.expect_query(s=to_link(SESSION), step="2")
    assert page.is_marked()
    again = open_lesson("/sandbox?" + page.page.url.split("?")[1])
    expect(again.step_label).to_have_text("3 of 5")
    assert session(again) == SESSION
    assert page.complaints == again.complaints == []


def test_a_file_is_opened_and_a_bad_one_is_refused(open_lesson: Open, tmp_path: Path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(to_file(SESSION))
    bad.write_text(json.dumps({"<img src=x onerror=alert(1)>": 1}))
    page = open_lesson("/sandbox")
    page.page.get_by_text("Keep and share this session").click()
    upload = page.page.locator("input[type=file]")
    upload.set_input_files(good)
    expect(page.step_label).to_have_text("5 of 5")
    upload.set_input_files(bad)
    expect(page.page.get_by_text("This file is no session")).to_be_visible()
    expect(page.step_label).to_have_text("1 of 1")
    assert page.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_stands_in_the_way_of_anybody(open_lesson: Open, scheme: str):
    page = open_lesson(f"/sandbox?s={to_link(SESSION)}", scheme=scheme)
    page.wait_until_idle()
    assert serious_violations(page.page) == []


def test_a_hostile_link(open_lesson: Open):
    page = open_lesson("/sandbox?s=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    expect(page.page.get_by_text("This link holds no session")).to_be_visible()
    expect(page.step_label).to_have_text("1 of 1")
    assert page.page.locator("img[src=x]").count() == 0
    assert page.complaints == []


def test_everything_that_can_be_typed_and_chosen(open_lesson: Open):
    page = open_lesson("/sandbox")
    expect(page.step_label).to_have_text("1 of 1")
    page.page.get_by_label("Prompt").fill("To be")
    do(page, "New request", 2)  # the field was not left before
    page.page.get_by_label("Token", exact=True).fill("Z")
    do(page, "Decode one token", 3)
    expect(page.page.get_by_label("Token", exact=True)).to_have_value("")
    do(page, "Fork", 4)
    page.choose("Request", "R2")
    do(page, "Finish", 5)
    page.choose("Free list", "scattered")
    expect(page.by_id("table-R1-L1")).to_have_attribute("data-block", "3")
    typed = (NewRequest("To be"), DecodeToken(1, "Z"), Fork(1), Finish(2))
    page.expect_query(s=to_link(Script(Pool(free_order="scattered"), typed)))
    page.choose("Start from", "Fork a full block")
    expect(page.step_label).to_have_text("5 of 5")
    page.click("Bring back the session before")
    page.expect_query(s=to_link(Script(Pool(free_order="scattered"), typed)))
    assert page.complaints == []


def test_the_downloaded_file_opens_as_the_same_session(open_lesson: Open, tmp_path: Path):
    page = open_lesson(f"/sandbox?s={to_link(SESSION)}")
    expect(page.step_label).to_have_text("5 of 5")
    page.page.get_by_text("Keep and share this session").click()
    with page.page.expect_download() as download:
        page.page.get_by_text("Download as a file").click()
    kept = tmp_path / "kept.json"
    download.value.save_as(kept)
    assert read_file(kept.read_bytes()) == SESSION
    code = page.page.get_by_test_id("stCode")
    expect(code).to_contain_text("engine.fork('R1', 'R2')")
    assert page.complaints == []


def test_going_on_at_once_from_the_frame_just_stepped_to(open_lesson: Open):
    page = open_lesson(f"/sandbox?s={to_link(SESSION)}")
    expect(page.step_label).to_have_text("5 of 5")
    page.by_id("player").focus()
    page.page.evaluate(PRESS_TWICE_AND_BRANCH)  # sooner than the player tells its host
    expect(page.step_label).to_have_text("3 of 3")
    assert session(page).actions == SESSION.actions[:2]


PRESS_TWICE_AND_BRANCH = """() => {
  const host = [...document.querySelectorAll('*')].find(
    (node) => node.shadowRoot?.querySelector('[data-testid=branch]'));
  const back = new KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true});
  window.dispatchEvent(back);
  window.dispatchEvent(back);
  host.shadowRoot.querySelector('[data-testid=branch]').click();
}"""
