"""The same lesson on another backend: the same board, and numbers that agree."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lesson_reading import Json

from pagedkv.lessons import LESSONS

PROJECT = Path(__file__).parents[2]
TOLERANCE = 1e-4
RECORD_ALL = """
import json
from pagedkv.lessons import LESSONS
from pagedkv.recorder import record
from pagedkv.settings import Settings
from pagedkv.trace.as_json import trace_to_dict
print(json.dumps([trace_to_dict(record(lesson, Settings())) for lesson in LESSONS]))
"""


@pytest.fixture(scope="module")
def on_torch() -> dict[str, Json]:
    """All lessons at the defaults, from a process without Triton."""
    done = subprocess.run(
        [sys.executable, "-c", RECORD_ALL],
        cwd=PROJECT,
        env={**os.environ, "PAGEDKV_BACKEND": "torch"},
        capture_output=True,
        text=True,
        check=True,
    )
    return {trace["lesson"]: trace for trace in json.loads(done.stdout)}


def test_the_trace_says_which_backend_computed_it(on_torch):
    assert {trace["runtime"]["backend"] for trace in on_torch.values()} == {"torch"}


@pytest.mark.parametrize("slug", [lesson.slug for lesson in LESSONS])
def test_a_lesson_is_the_same_on_the_torch_backend_within_tolerance(slug, on_torch, read):
    differences = list(unequal(read(slug)["frames"], on_torch[slug]["frames"]))
    assert differences == []


def unequal(one: object, other: object, path: str = "frames"):
    """Paths at which two traces differ by more than rounding."""
    if isinstance(one, float) and isinstance(other, float):
        if abs(one - other) > TOLERANCE:
            yield path, one, other
    elif isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from unequal(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, pair in enumerate(zip(one, other, strict=True)):
            yield from unequal(*pair, f"{path}[{i}]")
    elif one != other:
        yield path, one, other
