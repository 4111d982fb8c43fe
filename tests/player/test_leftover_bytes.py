"""Old bytes in a slot that has an owner again: seen on the board, and not taken for stored."""

import sample
from playwright.sync_api import expect

from pagedkv.player import player_data


def test_an_empty_slot_with_old_bytes_is_struck_in_grey(player) -> None:
    page = player.mount(player_data(sample.given_again(), sample.lesson()), index=2)
    slot = page.get_by_test_id("slot-P0-0")
    expect(slot).to_have_attribute("data-state", "empty")
    expect(slot).to_have_attribute("data-token", "")
    char = slot.locator(".char")
    expect(char).to_have_text("T")
    expect(char).to_have_css("text-decoration-line", "line-through")
    expect(char).to_have_css("color", "rgb(86, 94, 104)")  # as old bytes are in a free slot
    expect(slot).to_have_css("border-top-style", "dashed")
    legend = page.get_by_text("empty, old bytes inside")
    expect(legend).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(slot).to_have_attribute("data-state", "stale")
    expect(legend).to_have_count(0)


def test_an_empty_slot_without_old_bytes_stays_blank(player) -> None:
    page = player.mount(player_data(sample.growth(), sample.lesson()), index=0)
    empty = page.locator(".slot[data-state=empty]").first
    expect(empty.locator(".char")).to_have_text("")
