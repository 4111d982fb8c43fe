"""What the page that generates promises: its speed, its first characters, its memory."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

import kernels
from pagedkv.generate import Choices, Generation, Shelf, keep
from pagedkv.model import CharGPT, load_model
from tests.bench.measured import Measured, milliseconds

TIMES = 5
RUNS = 50  # for memory
SETTLED = 10  # of them until memory is compared
SHORT = 16  # characters of each answer: fifty runs are to take minutes


def measure_generate() -> Iterator[Measured]:
    """Lines for four answers of sixty characters, for the first ones, and for many runs."""
    model = load_model(kernels.runtime()["device"])
    list(Generation(Choices(length=2), model).steps())  # the process is warm
    paces, firsts = [], []
    for seed in range(TIMES):
        before = perf_counter()
        run = Generation(Choices(num_answers=4, length=60, seed=seed), model)
        run.advance()
        firsts.append(perf_counter() - before)
        list(run.steps())
        paces.append(run.choices.num_answers * 60 / (perf_counter() - before))
    yield _characters(paces)
    yield milliseconds("the first character of each of 4 answers", 1000, firsts)
    yield memory(model)


def _characters(paces: list[float]) -> Measured:
    value = f"{median(paces):.0f}/s, at least {min(paces):.0f}/s ({len(paces)} times)"
    what = "4 answers x 60 characters, recorded, all together"
    return Measured(what, "≥ 20/s", value, median(paces) >= 20)


def memory(model: CharGPT) -> Measured:
    """Run after run of one visitor, each kept on the shelf until the next has ended."""
    shelf, key, megabytes = Shelf(64_000_000), "", []
    for seed in range(RUNS):
        run = Generation(Choices(length=SHORT, seed=seed), model)
        list(run.steps())
        shelf.remove(key)
        key = shelf.put(keep(run))
        megabytes.append(_resident())
    growth = 100 * (megabytes[-1] / megabytes[SETTLED - 1] - 1)
    value = f"{megabytes[-1]:.0f} MB, {growth:+.1f} % since run {SETTLED}"
    return Measured(f"memory after {RUNS} generations", "± 5 %", value, abs(growth) <= 5)


def _resident() -> float:
    """Megabytes that this process holds now; where the system does not say, at most so far."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    import resource  # not on every system

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (1e6 if sys.platform == "darwin" else 1e3)
