"""The attention strip with many positions: what is written in it can be read."""

from itertools import pairwise

import pytest
import sample
from playwright.sync_api import Page

from pagedkv.player import player_data
from pagedkv.settings import Settings

SHOWN = """(selector) => [...document.querySelectorAll(selector)]
  .filter((node) => node.checkVisibility({ visibilityProperty: true }))
  .map((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const { left, right } = range.getBoundingClientRect();
    return [node.textContent, left, right];
  })"""


def strip(player, prompt_length: int) -> Page:
    data = player_data(
        sample.growth(Settings(prompt_length=prompt_length, capacity=64)), sample.lesson()
    )
    return player.mount(data, index=1)


@pytest.mark.parametrize("width", [1280, 1000, 800, 390])
@pytest.mark.parametrize("prompt_length", [6, 12, 20, 28])
def test_values_and_positions_do_not_overlap(player, prompt_length: int, width: int) -> None:
    player.page.set_viewport_size({"width": width, "height": 800})
    page = strip(player, prompt_length)
    positions = page.evaluate(SHOWN, ".bar-position")
    assert positions[0][0] == "0"
    assert len(positions) >= prompt_length / 4
    for shown in (positions, page.evaluate(SHOWN, ".value")):
        assert shown
        for (_, _, right), (_, left, _) in pairwise(shown):
            assert right <= left


def test_values_of_a_crowded_strip_are_those_of_the_bars_that_can_be_seen(player) -> None:
    page = strip(player, 20)
    weights = page.evaluate(
        "() => [...document.querySelectorAll('.weight')].map((bar) => +bar.dataset.value)"
    )
    values = [value for value, _, _ in page.evaluate(SHOWN, ".value")]
    assert min(weights) < 0.05
    assert set(values) <= {f"{weight:.2f}" for weight in weights if weight >= 0.05}
    page.get_by_test_id(f"weight-{weights.index(min(weights))}").hover()
    assert f"{min(weights):.2f}" in [value for value, _, _ in page.evaluate(SHOWN, ".value")]


def test_a_roomy_strip_has_every_value_and_position(player) -> None:
    page = strip(player, 6)
    assert len(page.evaluate(SHOWN, ".value")) == 6
    assert len(page.evaluate(SHOWN, ".bar-position")) == 6


def test_the_samples_of_the_key_stand_clear_of_their_words(player) -> None:
    page = strip(player, 6)
    gaps = page.evaluate(
        """() => [...document.querySelectorAll('.key-bar, .key-line')].map((sample) => {
          const words = document.createRange();
          words.selectNodeContents(sample.nextSibling);
          return words.getBoundingClientRect().left - sample.getBoundingClientRect().right;
        })"""
    )
    assert len(gaps) == 2
    assert min(gaps) >= 5
