"""Going through the course in Chromium: what a learner sees, presses and drags."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import ConsoleMessage, Locator, Page, expect

from pagedkv.lessons import LESSONS

PATIENCE = 30_000  # milliseconds for what a busy machine may take; no test measures time

expect.set_options(timeout=PATIENCE)

EVERY_LESSON = pytest.mark.parametrize("slug", [lesson.slug for lesson in LESSONS])

# The smallest type below an element, and where; what a part draws in its shadow is not seen.
SMALLEST_TYPE = """root => {
  const sizes = [];
  for (const node of root.querySelectorAll('*')) {
    const box = node.getBoundingClientRect();
    const says = [...node.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    const style = getComputedStyle(node);
    const shown = node.checkVisibility({visibilityProperty: true}) && box.width > 1;
    if (says && shown) sizes.push([parseFloat(style.fontSize), node.className || node.nodeName]);
  }
  return sizes.sort((a, b) => a[0] - b[0])[0];
}"""


class LessonPage:
    """A lesson in a browser page."""

    def __init__(self, page: Page, server: str) -> None:
        self.page = page
        self.server = server
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def go_to(self, path: str) -> "LessonPage":
        """Ask for an address of the course."""
        self.page.goto(self.server + path)
        return self

    def wait_for_player(self) -> "LessonPage":
        """Wait until the player can be stepped."""
        expect(self.step_label).to_be_visible()
        self.wait_until_idle()
        return self

    def wait_for_title(self) -> "LessonPage":
        """Wait until the page has its title."""
        expect(self.page.get_by_role("heading", level=1)).to_be_visible()
        self.wait_until_idle()
        return self

    def wait_until_idle(self) -> None:
        """Wait until the server has answered everything that was asked so far."""
        app = "[data-testid=stApp][data-test-script-state=notRunning]"
        self.page.locator(app).wait_for(timeout=PATIENCE)

    def _listen(self, message: ConsoleMessage) -> None:
        # At a deep link Streamlit first looks for its own two end points beside the page.
        address = urlsplit(message.location["url"]).path
        is_streamlits_own = "/_stcore/" in address and "404" in message.text
        if message.type == "error" and not is_streamlits_own:
            self.complaints.append(message.text)

    def by_id(self, test_id: str) -> Locator:
        """The element with this ``data-testid``."""
        return self.page.get_by_test_id(test_id)

    @property
    def step_label(self) -> Locator:
        """Which frame of how many, in words."""
        return self.by_id("step-label")

    @property
    def num_frames(self) -> int:
        """How many frames the lesson has at these settings."""
        return int(self.step_label.inner_text().split(" of ")[1])

    def expect_step(self, index: int) -> None:
        """Expect the frame of this index on the board."""
        expect(self.step_label).to_have_text(f"{index + 1} of {self.num_frames}")

    def slider(self, name: str) -> Locator:
        """The handle of a setting's slider."""
        return self.page.locator(f".st-key-{name} input[type=range]")

    def expect_setting(self, name: str, value: int) -> None:
        """Expect a setting on its slider."""
        expect(self.slider(name)).to_have_value(str(value))

    def press(self, *keys: str) -> None:
        """Press keys, one after another, wherever the focus is."""
        for key in keys:
            self.page.keyboard.press(key)

    def query(self) -> dict[str, str]:
        """The parameters of the address, as they stand now."""
        found = parse_qs(urlsplit(self.page.url).query)
        return {name: values[0] for name, values in found.items()}

    def expect_query(self, **expected: str) -> None:
        """Expect the address to follow: exactly these parameters."""
        self.wait_for(lambda: self.query() == expected, lambda: f"{self.query()} != {expected}")

    def wait_for(self, condition: Callable[[], bool], complaint: Callable[[], str]) -> None:
        """Look again and again until ``condition`` holds."""
        for _ in range(PATIENCE // 50):
            if condition():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(complaint())

    def box(self, test_id: str) -> dict[str, float]:
        """Where an element lies, in CSS pixels from the window's upper left corner."""
        box: Any = self.by_id(test_id).bounding_box()
        assert box is not None, f"{test_id} is not shown"
        return {**box, "bottom": box["y"] + box["height"], "right": box["x"] + box["width"]}

    def mark(self) -> None:
        """Leave a mark on the board that is gone once the board is built anew."""
        self.by_id("board").evaluate("board => { board.dataset.mark = 'here' }")

    def is_marked(self) -> bool:
        """Whether the board is still the one that was marked."""
        return self.by_id("board").get_attribute("data-mark") == "here"

    def choose(self, label: str, option: str) -> None:
        """Choose an option of the box with this label."""
        self.page.get_by_role("combobox", name=label).click()
        self.page.get_by_role("option", name=option, exact=True).click()

    def click(self, name: str) -> None:
        """Click the button of this name."""
        self.page.get_by_role("button", name=name, exact=True).click()


Open = Callable[..., LessonPage]
