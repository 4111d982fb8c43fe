"""What can be measured without server and browser: traces, model, kernel, the data's size."""

import json
from collections.abc import Iterator
from statistics import median
from time import perf_counter

import torch

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
    """Lines for the longest trace, the model's steps, the kernel, and what a browser is sent."""
    record(LESSONS[0], Settings())  # the process is warm, and no trace is kept
    yield longest_trace()
    yield decode_step()
    yield prefill()
    for rows in (1, 4, 8):
        yield decode_attention(rows)
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


def prefill() -> Measured:
    """One execution of a prompt of 64 characters, through all layers."""
    engine = Engine(load_model(kernels.runtime()["device"]), block_size=4, num_blocks=64)
    seconds = []
    for _ in range(TIMES):
        engine.admit("B", prompt(PASSAGE_B, 64))
        before = perf_counter()
        engine.execute("B")
        seconds.append(perf_counter() - before)
        engine.finish("B")
    return milliseconds("prefill of 64 characters through all layers", 400, seconds)


def decode_attention(rows: int) -> Measured:
    """One launch of the decode kernel: 9 positions a row, 4 query heads, 2 KV heads."""
    block_size, context_len, head_dim = 4, 9, 32
    max_blocks = -(-context_len // block_size)
    device = kernels.runtime()["device"]
    pool = torch.randn(2, rows * max_blocks, block_size, 2, head_dim, device=device)  # K and V
    tables = torch.randperm(rows * max_blocks, device=device).int().view(rows, max_blocks)
    lengths = torch.full((rows,), context_len, dtype=torch.int32, device=device)
    query = torch.randn(rows, 4, head_dim, device=device)  # [rows, heads, head_dim]
    seconds = []
    for _ in range(21):
        before = perf_counter()
        kernels.paged_attention(query, pool[0], pool[1], tables, lengths).cpu()
        seconds.append(perf_counter() - before)
    what = f"paged attention, {rows} x {context_len} positions, 4/2 heads, one layer"
    return milliseconds(what, 20, seconds[1:])


def largest_data() -> Measured:
    """How much JSON the largest lesson is at the defaults."""
    sizes = {}
    for lesson in LESSONS:
        data = player_data(record(lesson, Settings()), lesson)
        sizes[lesson.slug] = len(json.dumps(data).encode()) / 1000
    largest = max(sizes, key=sizes.__getitem__)
    what = "data for a whole lesson at the defaults"
    return Measured(what, "≤ 300 KB", f"{sizes[largest]:.0f} KB ({largest})", sizes[largest] <= 300)
