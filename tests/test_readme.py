"""The README keeps its word: its example prints what it says, and what it names exists."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def library_example() -> str:
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert example is not None
    return example[1]


def test_the_library_example_is_as_long_as_it_is_said_to_be() -> None:
    lines = [line for line in library_example().splitlines() if line]
    imports = [line for line in lines if re.match("import |from ", line)]
    assert (len(imports), len(lines) - len(imports)) == (2, 10)
    assert "Ten lines after two imports" in README


def test_the_library_example_prints_what_its_comments_say() -> None:
    done = subprocess.run(
        [sys.executable, "-c", library_example()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    table, location, mean = done.stdout.splitlines()
    assert table == "(3, 0, 1)"
    assert "logical_block=1, offset=2, block_id=0, flat_slot=2" in location
    assert float(mean) == 4.0


def test_every_file_that_it_names_exists() -> None:
    named = re.findall(r"`((?:pagedkv|kernels|pages|tests|docs)/[\w./-]*)`", README)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    assert pictures and all((ROOT / picture).is_file() for picture in pictures)


def test_every_make_target_that_it_names_exists() -> None:
    targets = set(re.findall(r"\bmake (\w+)", README))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"run", "test", "bench", "train"} <= targets
    assert [t for t in targets if not re.search(rf"^{t}:", makefile, re.MULTILINE)] == []
