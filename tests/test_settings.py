"""The four numbers that a learner may choose: ranges, refusals, and what follows from them."""

import pytest

from pagedkv.settings import RANGES, Settings, SettingsError, check_setting


def test_the_defaults_are_those_of_the_article():
    settings = Settings()
    assert (settings.block_size, settings.capacity, settings.prompt_length) == (4, 24, 6)
    assert (settings.seed, settings.num_blocks, settings.unusable_slots) == (0, 6, 0)


@pytest.mark.parametrize(
    ("block_size", "capacity", "num_blocks", "unusable"),
    [(5, 24, 4, 4), (7, 23, 3, 2), (1, 256, 256, 0), (32, 4, 0, 4)],
)
def test_capacity_is_cut_into_whole_blocks_and_a_remainder(
    block_size, capacity, num_blocks, unusable
):
    settings = Settings(block_size=block_size, capacity=capacity)
    assert (settings.num_blocks, settings.unusable_slots) == (num_blocks, unusable)


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("block_size", 1, 32), ("capacity", 4, 256), ("prompt_length", 1, 64), ("seed", 0, 2**31 - 1)],
)
def test_both_ends_of_a_range_are_allowed_and_what_lies_outside_is_refused(name, least, most):
    for value in (least, most):
        assert getattr(Settings(**{name: value}), name) == value
    for value in (least - 1, most + 1):
        with pytest.raises(SettingsError) as refused:
            Settings(**{name: value})
        assert str(refused.value) == (
            f"{name} is {value}; it must be a whole number from {least} to {most}"
        )


@pytest.mark.parametrize("value", [True, 4.0, "4", None, float("nan"), [4]])
@pytest.mark.parametrize("name", RANGES)
def test_what_is_no_whole_number_is_refused_by_name(name, value):
    with pytest.raises(SettingsError, match=f"{name} is .*whole number"):
        check_setting(name, value)


def test_a_refusal_is_a_value_error():
    assert issubclass(SettingsError, ValueError)


def test_equal_settings_are_the_same_key_and_cannot_be_changed():
    assert len({Settings(), Settings(block_size=4), Settings(block_size=5)}) == 2
    with pytest.raises(AttributeError):
        Settings().block_size = 8
