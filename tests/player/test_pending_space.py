"""A space that is to come next: its sign hangs below the line, and is raised into its circle."""

import sample
from playwright.sync_api import expect

from pagedkv.player import player_data


def test_a_pending_space_is_raised_off_the_rim_and_a_letter_is_not(player) -> None:
    page = player.mount(player_data(sample.growth(), sample.lesson()), index=1)
    space = page.get_by_test_id("pending-C").locator(".pending-char")
    other = page.get_by_test_id("pending-B").locator(".pending-char")
    expect(space).to_have_text("␣")
    top = """node => {
      const text = document.createRange();
      text.selectNodeContents(node);
      return text.getBoundingClientRect().top - node.getBoundingClientRect().top;
    }"""
    assert space.evaluate(top) <= other.evaluate(top) - 3
