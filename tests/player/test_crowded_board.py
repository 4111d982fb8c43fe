"""Boards with many blocks or long tokens: everything stays inside its card, and can be read."""

from dataclasses import replace

import pytest
import sample

from pagedkv.player import player_data
from pagedkv.settings import Settings
from pagedkv.trace.frame import Trace

WORD = "␣capital"

# Parts that stick out of their card, and tokens that are cut.
OUTSIDE = """card => [...card.querySelectorAll('.slot, .meta-line')].filter(part => {
  const [inner, outer] = [part.getBoundingClientRect(), card.getBoundingClientRect()];
  const isSquashed = part.matches('.slot') && inner.width < 20;
  return inner.right > outer.right + 1 || inner.left < outer.left - 1 || isSquashed;
}).length"""
CUT = """board => [...board.querySelectorAll('.char')].filter(
  char => char.scrollWidth > char.clientWidth).map(char => char.textContent)"""


def with_long_tokens(trace: Trace) -> Trace:
    """The same run, if every token were a word."""

    def longer(frame):
        requests = tuple(
            replace(request, tokens=(WORD,) * len(request.tokens))
            for request in frame.state.requests
        )
        blocks = tuple(
            replace(
                block,
                slots=tuple(
                    replace(slot, token=None if slot.token is None else WORD)
                    for slot in block.slots
                ),
            )
            for block in frame.state.blocks
        )
        return replace(frame, state=replace(frame.state, requests=requests, blocks=blocks))

    return replace(trace, frames=tuple(map(longer, trace.frames)))


@pytest.mark.parametrize("width", [1280, 800, 390])
@pytest.mark.parametrize("settings", [Settings(), Settings(block_size=2, capacity=64)], ids=str)
@pytest.mark.parametrize("long_tokens", [False, True])
def test_slots_and_notes_stay_inside_their_card(player, width, settings, long_tokens) -> None:
    trace = sample.growth(settings)
    data = player_data(with_long_tokens(trace) if long_tokens else trace, sample.lesson())
    player.page.set_viewport_size({"width": width, "height": 800})
    page = player.mount(data)
    page.keyboard.press("End")
    cards = page.locator(".card").all()
    assert len(cards) == settings.num_blocks
    assert [card.evaluate(OUTSIDE) for card in cards] == [0] * settings.num_blocks


@pytest.mark.parametrize("width", [1280, 800, 390])
def test_a_long_token_can_be_read_in_its_slot_and_in_its_cell(player, width) -> None:
    data = player_data(with_long_tokens(sample.growth()), sample.lesson())
    assert data["stage"]["longTokens"]
    player.page.set_viewport_size({"width": width, "height": 800})
    page = player.mount(data)
    page.keyboard.press("End")
    assert page.locator(".char").filter(has_text=WORD).count() > 10
    assert page.get_by_test_id("board").evaluate(CUT) == []


def test_tokens_of_one_character_are_set_large() -> None:
    assert not player_data(sample.growth(), sample.lesson())["stage"]["longTokens"]
