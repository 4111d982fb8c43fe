"""What the screen says of a cache that lost bytes: never that it equals the dense reference."""

import json

import pytest
import torch

from pagedkv.cache import PagedKVCache
from pagedkv.lessons import find_lesson
from pagedkv.player import player_data
from pagedkv.recorder import record
from pagedkv.settings import Settings
from pagedkv.trace.as_text import trace_to_text
from pagedkv.trace.errors import worst
from pagedkv.trace.frame import Trace


def lose(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last row of every write arrives as NaN."""
    write = PagedKVCache.write

    def wrong(
        self: PagedKVCache, layer: int, batch: object, key: torch.Tensor, value: torch.Tensor
    ) -> None:
        tensors = {"K": key.clone(), "V": value.clone()}
        tensors[what][-1] = torch.nan
        write(self, layer, batch, tensors["K"], tensors["V"])

    monkeypatch.setattr(PagedKVCache, "write", wrong)


@pytest.fixture(params=["K", "V"])
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Trace:
    lose(request.param, monkeypatch)
    return record(find_lesson("block-table"), Settings())


def test_the_badge_is_not_ok_where_attention_gave_nan(broken: Trace) -> None:
    runtime = player_data(broken, find_lesson("block-table"))["runtime"]
    assert not runtime["ok"]
    assert runtime["check"] == "dense check ✗ nan"


def test_the_browser_can_parse_what_it_is_sent(broken: Trace) -> None:
    data = player_data(broken, find_lesson("block-table"))
    json.dumps(data, allow_nan=False)
    weights = [
        weight
        for frame in data["frames"]
        for view in frame["attention"] or ()
        for layer in view["layers"]
        for head in layer["paged"]
        for weight in head
    ]
    assert None in weights


def test_the_text_form_says_nan_of_a_look_up(broken: Trace) -> None:
    assert "K and V differ from the dense copy by at most nan" in trace_to_text(broken, "")


def test_the_unbroken_cache_is_ok() -> None:
    lesson = find_lesson("block-table")
    assert player_data(record(lesson, Settings()), lesson)["runtime"]["ok"]


def test_the_worst_of_nothing_is_no_error() -> None:
    assert worst([]) == 0.0
