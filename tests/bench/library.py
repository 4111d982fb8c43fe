"""What can be measured without server and browser: traces, one decode step, the data's size."""

import json
from collections.abc import Iterator
from statistics import median
from time import perf_counter

import kernels
from pagedkv.engine import Engine
from pagedkv.lessons import LESSONS
from pagedkv.lessons.base import Lesson
from pagedkv.model import load_model
from pagedkv.model.prompts import PASSAGE_B, PASSAGE_C, PASSAGE_D, PASSAGE_SHARED, prompt
from pagedkv.player import player_data
from pagedkv.recorder import record
from pagedkv.settings import Settings
from tests.bench.measured import Measured, milliseconds

TIMES = 5


def measure_library() -> Iterator[Measured]:
    """Lines for the longest trace, one decode step, and what a browser is sent."""
    record(LESSONS[0], Settings())  # the process is warm, and no trace is kept
    yield longest_trace()
    yield decode_step()
    yield largest_data()


def longest_trace() -> Measured:
    """The lesson that takes longest to record at the defaults."""
    seconds = {
        lesson.slug: [_seconds_to_record(lesson) for _ in range(TIMES)] for lesson in LESSONS
    }
    slowest = max(seconds, key=lambda slug: median(seconds[slug]))
    return milliseconds(
        "longest lesson's trace at the defaults, warm process",
        1500,
        seconds[slowest],
        f", {slowest}",
    )


def _seconds_to_record(lesson: Lesson) -> float:
    before = perf_counter()
    record(lesson, Settings())
    return perf_counter() - before


def decode_step() -> Measured:
    """One execution of four requests with one input each, through all layers."""
    engine = Engine(load_model(kernels.runtime()["device"]), block_size=4, num_blocks=64)
    passages = {"B": PASSAGE_B, "C": PASSAGE_C, "D": PASSAGE_D, "S": PASSAGE_SHARED}
    for name, passage in passages.items():
        engine.admit(name, prompt(passage, 6))
    engine.execute(*passages)
    seconds = []
    for _ in range(10):
        for name in passages:
            engine.select(name)
            engine.append(name)
        before = perf_counter()
        engine.execute(*passages)
        seconds.append(perf_counter() - before)
    return milliseconds("one decode step of 4 sequences through all layers", 150, seconds)


def largest_data() -> Measured:
    """How much JSON the largest lesson is at the defaults."""
    sizes = {}
    for lesson in LESSONS:
        data = player_data(record(lesson, Settings()), lesson)
        sizes[lesson.slug] = len(json.dumps(data).encode()) / 1000
    largest = max(sizes, key=sizes.__getitem__)
    what = "data for a whole lesson at the defaults"
    return Measured(what, "≤ 300 KB", f"{sizes[largest]:.0f} KB ({largest})", sizes[largest] <= 300)
