"""Which view a query string asks for, and what becomes of values that cannot be honoured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedkv.settings import RANGES, Settings
from pages._permalink import QUERY_NAMES, SETTING_NAMES, nearest_step, query_of, read_query


def test_an_empty_query_asks_for_the_first_frame_at_the_defaults() -> None:
    asked = read_query({})
    assert (asked.settings, asked.step, asked.present, asked.notices) == (Settings(), 0, False, ())


def test_every_parameter_is_read() -> None:
    asked = read_query(
        {
            "block_size": ["5"],
            "capacity": ["40"],
            "prompt_length": ["8"],
            "seed": ["3"],
            "step": ["4"],
            "present": ["1"],
        }
    )
    assert asked.settings == Settings(block_size=5, capacity=40, prompt_length=8, seed=3)
    assert (asked.step, asked.present, asked.notices) == (4, True, ())


@pytest.mark.parametrize(
    ("name", "text", "nearest"),
    [
        ("block_size", "0", 1),
        ("block_size", "99", 32),
        ("block_size", "-3", 1),
        ("block_size", "4.8", 5),
        ("block_size", "1e300", 32),
        ("capacity", "3", 4),
        ("capacity", "100000", 256),
        ("prompt_length", "0", 1),
        ("block_size", "inf", 32),
        ("block_size", "9" * 400, 32),
        ("capacity", "-inf", 4),
        ("seed", "-1", 0),
        ("seed", "9999999999", 2**31 - 1),
    ],
)
def test_a_number_out_of_range_becomes_the_nearest_and_is_told(
    name: str, text: str, nearest: int
) -> None:
    asked = read_query({name: [text]})
    assert getattr(asked.settings, name) == nearest
    (notice,) = asked.notices
    assert name in notice
    assert f"{nearest} is used" in notice


@pytest.mark.parametrize("text", ["", "four", "nan", "0x4", "<b>4</b>", "4;5"])
def test_text_that_is_no_number_becomes_the_default_and_is_not_repeated(text: str) -> None:
    asked = read_query({"block_size": [text]})
    assert asked.settings == Settings()
    (notice,) = asked.notices
    assert notice == "block_size must be a whole number from 1 to 32; 4 is used."


def test_a_repeated_parameter_counts_once_and_is_told() -> None:
    asked = read_query({"capacity": ["40", "80"]})
    assert asked.settings.capacity == 40
    assert asked.notices == ("capacity is given 2 times; 40 is used.",)


def test_a_present_that_is_neither_0_nor_1_is_told() -> None:
    assert not read_query({"present": ["yes"]}).present
    assert read_query({"present": ["yes"]}).notices
    assert read_query({"present": ["0"]}).notices == ()


def test_parameters_of_others_are_left_alone() -> None:
    assert read_query({"embed": ["true"], "utm": ["x"]}).notices == ()


def test_a_step_beyond_the_end_becomes_the_last_frame() -> None:
    assert nearest_step(7, num_frames=8) == (7, ())
    step, notices = nearest_step(8, num_frames=8)
    assert step == 7
    assert notices == ("step is 8, but the last frame here is 7, so 7 is shown.",)


@pytest.mark.parametrize(
    "steps", [["1e300"], ["1e300", "1e300"], ["-1e300"], ["9" * 5000], ["inf"]]
)
def test_a_notice_stays_short_however_large_the_number(steps: list[str]) -> None:
    asked = read_query({"step": steps})
    notices = (*asked.notices, *nearest_step(asked.step, num_frames=8)[1])
    assert notices
    assert all(len(notice) < 100 for notice in notices)


def test_a_link_leads_back_to_the_settings_it_was_made_from() -> None:
    settings = Settings(block_size=3, capacity=25, prompt_length=64, seed=7)
    query = {name: [value] for name, value in query_of(settings).items()}
    assert read_query(query).settings == settings
    assert query_of(Settings()) == {}


@given(st.dictionaries(st.sampled_from(QUERY_NAMES), st.lists(st.text(), max_size=3)))
def test_no_query_raises_and_what_is_read_is_in_range(query: dict[str, list[str]]) -> None:
    asked = read_query(query)
    for name in SETTING_NAMES:
        assert getattr(asked.settings, name) in RANGES[name]
    assert asked.step >= 0
