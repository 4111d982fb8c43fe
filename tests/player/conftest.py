"""One headless Chromium for the player's tests, and a page that holds nothing but the player."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from pagedkv.player import player_css, player_js

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Player</title>
<style>body {{ margin: 0; }} main {{ padding: 0 16px; }}</style>
<style>{css}</style></head>
<body><main id="root"></main>{extra}
<script type="module">
{js}
window.settled = [];
window.presented = [];
window.root = document.getElementById('root');
if ({shadow}) {{
  const shadow = window.root.attachShadow({{ mode: 'open' }});
  const style = document.createElement('style');
  style.textContent = document.querySelectorAll('style')[1].textContent;
  window.root = document.createElement('div');
  shadow.append(style, window.root);
}}
window.options = {{
  onSettle: (index) => window.settled.push(index),
  onPresent: (present) => window.presented.push(present),
  ...{options},
}};
window.player = mountPlayer(window.root, {data}, window.options);
</script></body></html>"""


class PlayerPage:
    """A page with a player in it, and the errors that it has met."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._note)

    def _note(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def mount(
        self, data: dict[str, Any], *, extra: str = "", shadow: bool = False, **options: Any
    ) -> Page:
        html = PAGE.format(
            css=player_css(),
            js=player_js(),
            data=as_script(data),
            options=json.dumps({"theme": "light", **options}),
            extra=extra,
            shadow=str(shadow).lower(),
        )
        self.page.set_content(html)
        self.page.wait_for_function("window.player")
        return self.page


def as_script(data: dict[str, Any]) -> str:
    """Write JSON that may stand inside a script element."""
    return json.dumps(data).replace("</", "<\\/")


@pytest.fixture
def player(browser: Browser) -> Iterator[PlayerPage]:
    """A fresh page at 1280 × 800; the test fails if the page met an error."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    holder = PlayerPage(page)
    yield holder
    page.close()
    assert holder.errors == []
