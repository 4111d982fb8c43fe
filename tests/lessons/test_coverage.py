"""``docs/coverage.md`` names lessons, frames and tests; all of them must exist."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from pagedkv.lessons import LESSONS

PROJECT = Path(__file__).resolve().parents[2]
NOT_A_FRAME = ("preset ", "note ")


class Claim(NamedTuple):
    text: str
    slug: str
    frame: str
    tests: list[str]


def claims() -> list[Claim]:
    """The rows of all tables in the document."""
    rows = []
    for line in (PROJECT / "docs/coverage.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[0] != "claim":
            text, slug, frame, tests = cells
            rows.append(Claim(text, slug, frame, re.findall(r"`([^`]+)`", tests)))
    return rows


@cache
def functions_in(file: Path) -> set[str]:
    tree = ast.parse(file.read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_lesson_shows_some_claim_and_no_other_lesson_is_named():
    assert {claim.slug for claim in claims()} == {lesson.slug for lesson in LESSONS}


def test_every_claim_names_a_test_that_exists():
    for claim in claims():
        assert claim.tests, claim.text
        for test in claim.tests:
            file, name = test.split("::")
            assert name.startswith("test_")
            assert name in functions_in(PROJECT / "tests" / file), test


@pytest.mark.parametrize("slug", [lesson.slug for lesson in LESSONS])
def test_every_frame_that_is_named_has_that_number_and_title(slug, recorded):
    frames = [f"{frame.index + 1} · {frame.title}" for frame in recorded(slug).frames]
    named = [claim.frame for claim in claims() if claim.slug == slug]
    assert [
        frame for frame in named if frame not in frames and not frame.startswith(NOT_A_FRAME)
    ] == []


def test_no_claim_is_made_twice():
    texts = [claim.text for claim in claims()]
    assert len(texts) > 80
    assert sorted(set(texts)) == sorted(texts)


def test_every_frame_of_every_lesson_but_checks_shows_some_claim(recorded):
    """A frame that shows nothing of the article should have a reason to be there."""
    named = {(claim.slug, claim.frame) for claim in claims()}
    unnamed = [
        f"{lesson.slug} {frame.index + 1}"
        for lesson in LESSONS
        for frame in recorded(lesson.slug).frames
        if (lesson.slug, f"{frame.index + 1} · {frame.title}") not in named
    ]
    assert unnamed == [
        "shared-prefix 2",  # the pool begins anew
        "copy-on-write 9",  # each attends, which is claimed of sharing as a whole
        "freeing 1",  # where copy-on-write ended
        "freeing 4",  # D has its blocks, and nothing is stored in them yet
    ]
