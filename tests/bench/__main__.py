"""``python -m tests.bench``: measure everything, print the table, say on which machine."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from playwright.sync_api import expect

from tests.bench.classroom import measure_classroom
from tests.bench.generate import measure_generate
from tests.bench.library import measure_library
from tests.bench.machine import machine
from tests.bench.measured import HEAD, Measured, as_row
from tests.bench.own_requests import measure_own_requests
from tests.bench.screen import measure_screen, measure_start
from tests.bench.smollm import measure_smollm
from tests.bench.workloads import measure_workloads
from tests.browser.browser_server import running_server
from tests.chromium import chromium

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE = 300_000  # milliseconds; a slow machine is to be measured too


def main() -> None:
    """Print each line as soon as it is measured."""
    expect.set_options(timeout=PATIENCE)
    torch.set_num_threads(1)  # as in the server
    where = machine()
    print(HEAD, flush=True)
    for line in measure():
        print(as_row(line), flush=True)
    print(f"\n{where}")


def measure() -> Iterator[Measured]:
    """Measure in the order in which nothing disturbs the next: without a browser, then with one."""
    yield from measure_library()
    yield from measure_workloads()
    yield from measure_generate()
    yield from measure_smollm()
    with chromium() as browser, TemporaryDirectory() as folder:
        yield measure_start(browser, PROJECT)
        with running_server(PROJECT, Path(folder) / "log.txt") as server:
            yield from measure_screen(browser, server)
            yield from measure_own_requests(browser, server)
            yield from measure_classroom(browser, server)


main()
