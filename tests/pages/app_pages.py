"""Going through the course with AppTest."""

import json
from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

Open = Callable[..., AppTest]
PATIENCE = 60  # seconds for one run of a page on a busy machine


def go_to(app: AppTest, slug: str) -> AppTest:
    """Go on to another page. AppTest switches to files only; ours are made from the lessons."""
    app._page_hash = calc_hash(slug)
    return app.run()


def sent_to_player(app: AppTest) -> dict[str, Any]:
    """What the page handed to the player in the browser."""
    (player,) = app.get("bidi_component")
    data: dict[str, Any] = json.loads(player.proto.json)
    return {**data, "lesson": json.loads(data["lesson"])}


def labels(app: AppTest) -> list[str]:
    """The labels of the buttons, in order."""
    return [button.label for button in app.button]


def undraw(block: Any, key: str) -> None:
    """Take a widget off the page, as if the browser had not drawn it yet: it is not sent."""
    for place, child in list(block.children.items()):
        if getattr(child, "key", None) == key:
            del block.children[place]
        elif hasattr(child, "children"):
            undraw(child, key)
