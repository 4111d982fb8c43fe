"""Colours: legible, apart, and the same request always in the same one."""

from itertools import pairwise

import pytest
from plotly.colors import hex_to_rgb, sample_colorscale, unlabel_rgb

from pagedkv.figures.theme import (
    DARK,
    DIFFERENCE_SCALE,
    LIGHT,
    OKABE_ITO,
    WEIGHT_SCALE,
    ink_on,
    inks_on,
    luminance,
    request_colour,
    theme,
)
from pagedkv.trace.participants import NUM_COLOURS

THEMES = pytest.mark.parametrize("look", [LIGHT, DARK], ids=["light", "dark"])


def contrast(one: str, other: str) -> float:
    low, high = sorted(luminance(hex_to_rgb(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def test_black_and_white_have_the_contrast_of_the_standard():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@THEMES
def test_text_stands_out_from_the_page(look):
    assert contrast(look.ink, look.paper) >= 12
    assert contrast(look.muted, look.paper) >= 4.5


@THEMES
def test_numbers_stand_out_from_the_bars_that_hold_them(look):
    assert contrast(look.paper, look.stored) >= 4.5
    assert contrast(look.ink, look.empty) >= 4.5


@THEMES
def test_lines_and_hatching_stand_out_from_the_page(look):
    assert contrast(look.hatch, look.paper) >= 3
    assert contrast(look.accent, look.paper) >= 3
    assert contrast(look.stored, look.paper) >= 3


@pytest.mark.parametrize("scale", [WEIGHT_SCALE, DIFFERENCE_SCALE], ids=["weights", "difference"])
def test_numbers_are_legible_on_every_colour_of_a_scale(scale):
    places = [step / 100 for step in range(101)]
    grounds = [unlabel_rgb(colour) for colour in sample_colorscale(scale, places)]
    for ink, ground in zip(inks_on(scale, places), grounds, strict=True):
        low, high = sorted([luminance(ground), luminance(hex_to_rgb(ink))])
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_ink_is_black_on_light_and_white_on_dark():
    assert ink_on((255, 255, 255)) == "#000000"
    assert ink_on((0, 32, 77)) == "#FFFFFF"


def test_the_scale_of_weights_gets_lighter_all_the_way():
    colours = sample_colorscale(WEIGHT_SCALE, [step / 20 for step in range(21)])
    lights = [luminance(unlabel_rgb(colour)) for colour in colours]
    assert all(darker < lighter for darker, lighter in pairwise(lights))


def test_the_scale_of_differences_is_lightest_at_zero():
    below, zero, above = (luminance(hex_to_rgb(colour)) for _, colour in DIFFERENCE_SCALE)
    assert zero > below
    assert zero > above


def test_a_request_has_its_colour_by_its_place_and_after_six_they_begin_again():
    names = tuple("ABCDEFG")
    assert [request_colour(names, name) for name in names[:6]] == list(OKABE_ITO)
    assert request_colour(names, "G") == OKABE_ITO[0]
    assert len(OKABE_ITO) == NUM_COLOURS


def test_dark_and_light_are_chosen_by_name():
    assert theme(dark=True) is DARK
    assert theme(dark=False) is LIGHT
