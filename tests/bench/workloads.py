"""What the capacity lab promises of simulations: their pace, its growth, memory, a trace's load."""

import json
import tracemalloc
from collections.abc import Iterator
from statistics import median
from time import perf_counter, process_time

from pagedkv.workloads import POLICIES, Setup, Simulation, make_workload
from pagedkv.workloads.trace_file import read_trace
from tests.bench.measured import Measured, milliseconds

REQUESTS = 4000
TIMES = 3
ROWS = 20_000


def measure_workloads() -> Iterator[Measured]:
    """Lines for four policies, for ten times the requests, for memory, and for both file kinds."""
    _simulate(200)  # the process is warm
    short = [_simulate(REQUESTS) for _ in range(TIMES)]
    what = f"{REQUESTS:,} ShareGPT-like requests under 4 policies"
    yield milliseconds(what, 6000, [wall for wall, _ in short])
    yield growth(median(processor for _, processor in short))
    yield memory()
    for kind, data in (("CSV", _csv()), ("JSONL", _jsonl())):
        yield milliseconds(f"a trace of {ROWS:,} rows loads, {kind}", 1000, _loads(data))


def growth(short: float) -> Measured:
    """Ten times the requests, in times of the processor's time: other programs do not count."""
    times = _simulate(10 * REQUESTS)[1] / short
    what = f"{10 * REQUESTS:,} requests, in times of that"
    return Measured(what, "≤ 11 times", f"{times:.1f} times", times <= 11)


def memory() -> Measured:
    """What a simulation holds at its end, over ten times the steps: of four policies the worst."""
    worst = max((_held(policy) for policy in POLICIES), key=lambda held: held[1] / held[0])
    value = f"{worst[0]:.0f} KB, then {worst[1]:.0f} KB"
    is_met = worst[1] <= 2 * worst[0]
    what = "a simulation's memory, 10 times the steps, the worst of 4 policies"
    return Measured(what, "≤ 2 times", value, is_met)


def _held(policy: str) -> list[float]:
    """KB at the end of three hundred and of three thousand requests."""
    held = []
    for requests in (300, 3000):
        workload = make_workload("sharegpt", requests, 0)
        tracemalloc.start()
        simulation = Simulation(workload, Setup(policy=policy))
        simulation.run()
        held.append(tracemalloc.get_traced_memory()[0] / 1000)
        tracemalloc.stop()
    return held


def _simulate(requests: int) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    workload = make_workload("sharegpt", requests, 0)
    before = perf_counter(), process_time()
    for policy in POLICIES:
        Simulation(workload, Setup(policy=policy)).run()
    return perf_counter() - before[0], process_time() - before[1]


def _loads(data: bytes) -> list[float]:
    seconds = []
    for _ in range(TIMES):
        before = perf_counter()
        read_trace("trace", data)
        seconds.append(perf_counter() - before)
    return seconds


def _csv() -> bytes:
    """As Azure's: a date and time, Windows line ends."""
    rows = (
        f"2023-11-16 18:{n // 600 % 60:02d}:{n // 10 % 60:02d}.{n % 10}799600,{n % 4000 + 1},200"
        for n in range(ROWS)
    )
    return "\r\n".join(["TIMESTAMP,ContextTokens,GeneratedTokens", *rows]).encode()


def _jsonl() -> bytes:
    """As Mooncake's, with the hashes of some forty prefix blocks."""
    rows = (
        {"timestamp": n, "input_length": 20_000, "output_length": 200, "hash_ids": [*range(40)]}
        for n in range(ROWS)
    )
    return "\n".join(map(json.dumps, rows)).encode()
