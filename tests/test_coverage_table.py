"""docs/coverage.md points at lessons, frames and tests that exist."""

import re
from pathlib import Path

import pytest

from pagedkv.lessons import find_lesson

ROOT = Path(__file__).parent.parent
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in (ROOT / "docs/coverage.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and "`test_" in line
]
TEST_NAMES = {
    name
    for path in (ROOT / "tests/lessons").glob("test_*.py")
    for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
}


def test_there_is_a_table_to_check() -> None:
    assert len(ROWS) > 50


@pytest.mark.parametrize(("claim", "slug", "frame", "test"), ROWS, ids=[row[3] for row in ROWS])
def test_a_claim_names_a_frame_of_its_lesson_and_a_test(claim, slug, frame, test) -> None:
    assert claim
    titles = {words.title for words in find_lesson(slug).frames.values()}
    assert frame.split(": ", 1)[-1] in titles or frame in titles
    assert test.strip("`") in TEST_NAMES
