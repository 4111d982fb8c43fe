"""What the browser gets of the lessons as they are: small, explained, and with a true legend."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

import pagedkv.player
from pagedkv.lessons import LESSONS, find_lesson
from pagedkv.player import player_data
from pagedkv.recorder import record
from pagedkv.settings import Settings

SCREEN = Path(pagedkv.player.__file__).parent / "screen"

# What a frame shows beside the board, and in which states its slots are.
PARTS = """player => [...player.querySelectorAll('.panel, .waiting, .attention-head, .slot')]
  .filter(node => node.checkVisibility()).flatMap(node => [...node.classList])"""

COURSE_TERMS = {
    "position",
    "K, V, Q",
    "slot",
    "block",
    "logical block",
    "physical block",
    "block table",
    "capacity",
    "allocated",
    "stored",
    "empty",
    "ref count",
    "request",
    "response",
    "execution",
    "pending token",
    "fork",
    "copy-on-write",
    "context length",
}


@cache
def data_of(slug: str) -> Any:
    lesson = find_lesson(slug)
    return player_data(record(lesson, Settings()), lesson)


@pytest.mark.parametrize("slug", [lesson.slug for lesson in LESSONS])
def test_a_lesson_is_sent_in_at_most_300_kb(slug: str) -> None:
    assert len(json.dumps(data_of(slug), allow_nan=False).encode()) <= 300_000


@pytest.mark.parametrize("slug", [lesson.slug for lesson in LESSONS])
def test_the_legend_has_what_is_on_the_screen_and_nothing_else(slug: str) -> None:
    data = data_of(slug)
    for frame in data["frames"]:
        slots = [slot for place in frame["blocks"] for slot in data["blocks"][place]["slots"]]
        assert {look for look, _ in frame["legend"]} == looks(slots, frame["contiguous"])


def looks(slots: list[Any], strip: Any) -> set[str]:
    """How the slots and the strip's parts look, apart from whose they are."""
    seen = {look(slot) for slot in slots}
    if any("n" in slot for slot in slots):
        seen.add("written")
    for piece in strip["pieces"] if strip else ():
        stored = piece.get("stored", 0)
        seen |= {"stored"} if stored else set()
        if piece["length"] > stored:
            seen.add("reserved" if "r" in piece else "free")
    return seen


def look(slot: Any) -> str:
    if slot["s"] == "stored" and len(slot["o"]) > 1:
        return "shared"
    return "leftover" if slot["s"] == "empty" and "v" in slot else str(slot["s"])


def test_every_term_of_the_course_is_explained_in_some_lesson() -> None:
    explained = terms_of_the_screen().union(*(terms_in(data_of(x.slug)["frames"]) for x in LESSONS))
    assert COURSE_TERMS - explained == set()


def terms_in(data: Any) -> Iterator[str]:
    """The terms that the frames mark in their texts."""
    if isinstance(data, dict):
        if "term" in data:
            yield data["term"]
        data = list(data.values())
    if isinstance(data, list):
        for part in data:
            yield from terms_in(part)


def terms_of_the_screen() -> set[str]:
    """The terms that labels of the screen stand for in every lesson."""
    code = "".join(path.read_text(encoding="utf-8") for path in sorted(SCREEN.glob("*.js")))
    return set(re.findall(r'stage\.term\([^;]*?, "([^"]+)"\)', code))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_violation_in_whatever_a_frame_shows(player, theme: str) -> None:
    looked_at: set[str] = set()
    for lesson in LESSONS:
        data = data_of(lesson.slug)
        page = player.mount(data, theme=theme)
        for index in range(len(data["frames"])):
            shown = set(page.get_by_test_id("player").evaluate(PARTS))
            if shown - looked_at:  # axe takes longer than all else here
                assert serious_violations(page) == [], f"{lesson.slug}, frame {index}"
            looked_at |= shown
            page.keyboard.press("ArrowRight")
    assert {"what-if", "lookup", "worked", "comparison", "check", "stale"} <= looked_at


def serious_violations(page: Page) -> list[str]:
    """What axe-core calls serious or critical, and where."""
    found = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
