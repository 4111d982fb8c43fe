"""What would do where a lesson cannot show its point: only what works, and the nearest of it."""

from itertools import product

import pytest
from lesson_citations import remedies
from lesson_oracles import CANNOT_SHOW

from pagedkv.lessons import (
    block_table,
    copy_on_write,
    freeing,
    opening,
    reserve_or_allocate,
    shared_prefix,
)
from pagedkv.lessons.remedies import what_would_do
from pagedkv.settings import Settings

CAN_SHOW = {
    "reserve-or-allocate": reserve_or_allocate.can_show,
    "block-table": block_table.can_show,
    "growth": opening.b_can_take_one_more_block,
    "scattered-attention": opening.b_can_take_one_more_block,
    "shared-prefix": shared_prefix.can_show,
    "copy-on-write": copy_on_write.can_show,
    "freeing": freeing.can_show,
}
THROUGHOUT = list(product((1, 2, 3, 4, 7, 16, 31, 32), (4, 5, 14, 24, 57, 256), (1, 6, 8, 20, 64)))
RANGES = {"block_size": (1, 32), "capacity": (4, 256), "prompt_length": (1, 64)}
MORE_ROOM = {"block_size": -1, "capacity": 1, "prompt_length": -1}


def by_oracle(slug: str, settings: dict[str, int]) -> bool:
    return not CANNOT_SHOW[slug](*(settings[name] for name in RANGES))


@pytest.mark.parametrize("slug", CANNOT_SHOW)
def test_a_lessons_own_arithmetic_is_the_oracles_at_settings_throughout_the_ranges(slug):
    for numbers in THROUGHOUT:
        settings = dict(zip(RANGES, numbers, strict=True))
        assert CAN_SHOW[slug](Settings(**settings)) == by_oracle(slug, settings), settings


@pytest.mark.parametrize("slug", CANNOT_SHOW)
def test_of_each_setting_the_nearest_value_that_works_is_offered_more_room_first(slug):
    for numbers in THROUGHOUT[::5]:
        settings = dict(zip(RANGES, numbers, strict=True))
        if by_oracle(slug, settings):
            continue
        offered = remedies(what_would_do(Settings(**settings), CAN_SHOW[slug]))
        assert all(by_oracle(slug, settings | change) for change in offered)
        best = {name: best_value(slug, settings, name) for name in RANGES}
        if any(best.values()):
            merged = {name: value for change in offered for name, value in change.items()}
            assert merged == {name: value for name, value in best.items() if value}
        else:
            assert offered == [{"capacity": 24, "prompt_length": 6, "block_size": 4}]


def best_value(slug: str, settings: dict[str, int], name: str) -> int | None:
    least, most = RANGES[name]
    up = range(settings[name] + 1, most + 1)
    down = range(settings[name] - 1, least - 1, -1)
    in_order = [*up, *down] if MORE_ROOM[name] > 0 else [*down, *up]
    return next((v for v in in_order if by_oracle(slug, settings | {name: v})), None)


@pytest.mark.parametrize(
    ("can_show", "words"),
    [
        (lambda s: s.capacity >= 28, "Capacity 28 would do."),
        (
            lambda s: s.prompt_length < 5 or s.block_size == 2,
            "Prompt length 4 or block size 2 would do.",
        ),
        (
            lambda s: s.capacity > 30 or s.prompt_length > 7 or s.block_size < 4,
            "Capacity 31, prompt length 8 or block size 3 would do.",
        ),
        (lambda s: s.capacity in (23, 99), "Capacity 99 would do."),
        (lambda s: s.capacity < 20, "Capacity 19 would do."),
        (
            lambda s: False,
            "No single change would do; "
            "capacity 24, prompt length 6 and block size 4 together would.",
        ),
    ],
)
def test_a_remedy_names_the_setting_and_its_value(can_show, words):
    assert what_would_do(Settings(), can_show) == words
