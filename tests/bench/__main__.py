"""``python -m tests.bench``: measure everything, print the table, say on which machine."""

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.classroom import measure_classroom
from tests.bench.library import measure_library
from tests.bench.machine import machine
from tests.bench.measured import as_table
from tests.bench.screen import measure_screen, measure_start
from tests.browser.browser_server import running_server
from tests.browser.browser_tools import chromium

PROJECT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Measure in the order in which nothing disturbs the next: library, start, screen, class."""
    where = machine()
    lines = measure_library()
    with chromium() as browser, TemporaryDirectory() as folder:
        lines.append(measure_start(browser, PROJECT))
        with running_server(PROJECT, Path(folder) / "log.txt") as server:
            lines += measure_screen(browser, server)
            lines += measure_classroom(browser, server)
    print(as_table(lines))
    print(f"\n{where}")


main()
