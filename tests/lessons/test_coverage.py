"""``docs/coverage.md`` names lessons, frames and tests; all of them must exist."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from pagedkv.lessons import LESSONS

PROJECT = Path(__file__).resolve().parents[2]


class Claim(NamedTuple):
    text: str
    slug: str
    frame: str
    test: str


def document() -> str:
    return (PROJECT / "docs/coverage.md").read_text(encoding="utf-8")


def claims() -> list[Claim]:
    """The rows of all tables in the document."""
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in document().splitlines()
        if line.startswith("| ")
    ]
    return [Claim(*row) for row in rows if row[0] != "claim"]


@cache
def functions_in(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.fixture
def titles(recorded):
    """``titles(slug)``: its frames as the document names them, the full-block case included."""

    def of(slug: str) -> set[str]:
        at_8 = {f"at prompt length 8: {f.title}" for f in recorded(slug, prompt_length=8).frames}
        return at_8 | {f"{f.index + 1}: {f.title}" for f in recorded(slug).frames}

    return of


def test_every_lesson_shows_some_claim_and_no_other_lesson_is_named():
    assert {claim.slug for claim in claims()} == {lesson.slug for lesson in LESSONS}


def test_every_claim_names_a_test_of_its_lesson():
    tests = PROJECT / "tests/lessons"
    for claim in claims():
        own = functions_in(tests / f"test_{claim.slug.replace('-', '_')}.py")
        assert claim.test.strip("`") in own | functions_in(tests / "test_catalogue.py"), claim


def test_every_test_that_is_named_with_its_file_exists():
    named = re.findall(r"`(tests/[^`]+)`", document())
    for file, _, function in (name.partition("::") for name in named):
        assert (PROJECT / file).exists()
        assert not function or function in functions_in(PROJECT / file), function


@pytest.mark.parametrize("slug", [lesson.slug for lesson in LESSONS])
def test_every_frame_that_is_named_has_that_number_and_title(slug, titles):
    named = {claim.frame for claim in claims() if claim.slug == slug}
    assert named - titles(slug) == set()


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
        if (lesson.slug, f"{frame.index + 1}: {frame.title}") not in named
    ]
    assert unnamed == [
        "shared-prefix 2",  # the pool begins anew
        "freeing 1",  # where copy-on-write ended
    ]
