"""What holds for every test: where the project is, and that none is passed over."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings
from playwright.sync_api import Browser

from tests.chromium import chromium

# Tests make their tensors on the CPU. Whether a GPU, if there is one, gives the same is asked in a
# process of its own (tests/kernels/test_correctness.py). ``kernels`` reads this at its import.
os.environ.setdefault("PAGEDKV_DEVICE", "cpu")

# The interpreter works on tiny tensors: threads cost more than they bring, and workers share the
# cores already (the grid of lessons: 140 s of CPU instead of 444 on two cores).
torch.set_num_threads(1)

# No test fails for being slow: machines are busy, and a deadline measures them and not the code.
settings.register_profile("pagedkv", deadline=None)
settings.load_profile("pagedkv")

PROJECT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """``make test-all`` asks for every shape of the kernel grid and every block size of the
    experiments; else a sample is enough."""
    parser.addoption("--whole-grid", action="store_true", help="every shape and block size")


@pytest.fixture(scope="session")
def project() -> Path:
    """The project's folder."""
    return PROJECT


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this worker, for Playwright runs once in a process."""
    with chromium() as running:
        yield running


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """``run(*arguments)`` is (exit code, stdout, stderr) of one command, in this process."""
    from pagedkv.__main__ import main  # not before PAGEDKV_DEVICE is set

    def once(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(arguments)
        except SystemExit as stopped:  # argparse's own way to refuse
            code = stopped.code
        return code, *capsys.readouterr()

    return once


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A skipped test says nothing, so a run with one has failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
