"""The kernel's page in a browser: stepped by hand, and every experiment clicked."""

import pytest
from accessibility import serious_violations
from browser_tools import LessonPage, Open
from playwright.sync_api import expect

from pagedkv.experiments import FAULTS, Fault

LOOP_HEAD = "for start in range(begin, end, TILE):"
BLOCK_SIZES = (4, 3)
SCREENS = [(1280, 800, "light"), (1280, 800, "dark"), (390, 844, "light")]


def opened(open_start: Open, block_size: int, **window: object) -> LessonPage:
    """The page at a block size, chosen with the keyboard."""
    page = open_start("/kernel", **window)
    slider = page.page.get_by_role("slider", name="Block size")
    for value in range(4, block_size, -1):
        slider.press("ArrowLeft")
        expect(slider).to_have_value(str(value - 1))
    expect(page.page.get_by_role("button", name="Next line")).to_be_visible()
    page.wait_until_idle()
    return page


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_lines_and_tiles_are_stepped_through(open_start: Open, block_size: int) -> None:
    page = opened(open_start, block_size)
    ran = page.page.locator(".kernel-source .ran").first
    before = ran.inner_text()
    page.page.get_by_role("button", name="Next line").click()
    expect(ran).not_to_have_text(before)
    tile = page.page.get_by_role("combobox", name="Tile", exact=True)
    tile.fill("2")
    tile.press("Enter")
    expect(ran).to_contain_text(LOOP_HEAD)
    expect(page.page.get_by_text("Tile 2 of")).to_be_visible()
    page.page.get_by_role("button", name="Back").click()
    expect(page.page.get_by_text("Tile 1 of")).to_be_visible()
    assert page.complaints == []


def test_the_arrow_keys_step_and_a_slider_keeps_its_own(open_start: Open) -> None:
    page = opened(open_start, 4)
    line = page.page.get_by_role("slider", name="Line")
    page.page.get_by_role("heading", level=1).click()
    page.press("ArrowRight")
    expect(line).to_have_value("1")
    page.press("ArrowRight")
    expect(line).to_have_value("2")
    page.press("ArrowLeft")
    expect(line).to_have_value("1")
    page.page.get_by_role("slider", name="Block size").press("ArrowRight")
    page.wait_until_idle()
    expect(line).to_have_value("1")
    assert page.complaints == []


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_every_experiment_is_one_click(open_start: Open, block_size: int) -> None:
    page = opened(open_start, block_size)
    page.page.get_by_role("button", name="Poison every unused slot").click()
    expect(page.page.get_by_text("bitwise the same")).to_be_visible()
    page.page.get_by_role("button", name="Shuffle the physical blocks").click()
    expect(page.page.get_by_text("Largest difference to the answer before: 0,")).to_be_visible()
    page.page.get_by_role("button", name="Store the same context").click()
    expect(page.page.get_by_test_id("stDataFrame")).to_have_count(2)
    assert serious_violations(page.page) == []
    assert page.complaints == []


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_every_fault_is_one_choice_and_dense_objects(open_start: Open, block_size: int) -> None:
    page = opened(open_start, block_size)
    for fault in FAULTS:
        choose(page, fault)
        expect(page.page.get_by_role("link", name=fault.report.name)).to_have_attribute(
            "href", fault.report.url
        )
        expect(page.page.get_by_text("The dense reference objects")).to_be_visible()
    assert serious_violations(page.page) == []
    assert page.complaints == []


def choose(page: LessonPage, fault: Fault) -> None:
    """Switch on a fault by typing its title."""
    box = page.page.get_by_role("combobox", name="Fault")
    box.fill(fault.title)
    box.press("ArrowDown")
    box.press("Enter")
    expect(page.page.get_by_text(fault.explanation)).to_be_visible()
    page.wait_until_idle()


@pytest.mark.parametrize(("width", "height", "scheme"), SCREENS)
def test_the_page_fits(open_start: Open, width: int, height: int, scheme: str) -> None:
    page = opened(open_start, 4, width=width, height=height, scheme=scheme)
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.page.evaluate(overflow) <= 0
    assert serious_violations(page.page) == []
