"""A real server and a real browser. One server per worker, ended by its own process id."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_server import running_server
from browser_tools import LessonPage, Open
from playwright.sync_api import Browser, BrowserContext


@pytest.fixture(scope="session")
def server(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that lives as long as the tests of this worker."""
    with running_server(project, tmp_path_factory.mktemp("server") / "log.txt") as address:
        yield address


@pytest.fixture
def fresh_server(project: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a server that nobody has asked for anything yet."""
    with running_server(project, tmp_path / "log.txt") as address:
        yield address


@pytest.fixture
def open_page(browser: Browser, server: str) -> Iterator[Open]:
    """Open an address in a window of its own, and wait for nothing."""
    contexts: list[BrowserContext] = []

    def open_it(
        path: str,
        *,
        width: int = 1280,
        height: int = 800,
        scheme: str = "light",
        at: str | None = None,
    ) -> LessonPage:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        contexts.append(context)
        return LessonPage(context.new_page(), at or server).go_to(path)

    yield open_it
    for context in contexts:
        context.close()


@pytest.fixture
def open_lesson(open_page: Open) -> Open:
    """Open a lesson and wait until it can be stepped: ``open_lesson("/growth", width=390)``."""
    return lambda path, **window: open_page(path, **window).wait_for_player()


@pytest.fixture
def open_start(open_page: Open) -> Open:
    """Open the start page and wait until it is there."""
    return lambda path, **window: open_page(path, **window).wait_for_title()
