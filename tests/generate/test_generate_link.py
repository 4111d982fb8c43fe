"""A link leads back to a run and to the frame that was open, whatever else is written in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedkv.generate import MODELS, Choices
from pagedkv.generate.as_query import NAMES, from_query, to_query

CHOICES = st.builds(
    Choices,
    prompt=st.text("abc \n&=?#", min_size=1, max_size=9),
    num_answers=st.integers(1, 8),
    length=st.integers(1, 128),
    temperature=st.floats(0, 2),
    top_k=st.integers(1, 62),
    seed=st.integers(0, 2**31 - 1),
    block_size=st.integers(1, 32),
    model=st.sampled_from(MODELS),
)


@given(CHOICES, st.integers(0, 100), st.integers(1, 20))
def test_a_link_leads_back(choices, first, step):
    asked_for = from_query({**to_query(choices, first), "step": str(step)})
    assert asked_for.choices == choices
    assert asked_for.index == first + step
    assert asked_for.notices == ()


def test_the_first_frame_of_a_stretch_needs_no_step():
    assert from_query(to_query(Choices(), 7)).index == 7


def test_a_link_may_lead_to_a_run_and_to_no_frame_of_it():
    asked_for = from_query(to_query(Choices(seed=4)))
    assert (asked_for.choices, asked_for.index) == (Choices(seed=4), None)


@pytest.mark.parametrize(
    ("query", "index", "present"),
    [
        ({"present": "1", "first": "3", "step": "2"}, 5, True),
        ({"present": "1"}, 0, True),
        ({"present": "0"}, None, False),
        ({}, None, False),
    ],
)
def test_a_link_may_present_a_frame_the_first_if_it_names_none(query, index, present):
    asked_for = from_query({"seed": "5", **query})
    assert (asked_for.index, asked_for.present, asked_for.notices) == (index, present, ())


@pytest.mark.parametrize("text", ["2", "", "yes", "<b>", "9" * 5000])
def test_presenting_in_another_way_is_told(text):
    asked_for = from_query({"seed": "5", "present": text})
    assert not asked_for.present
    (notice,) = asked_for.notices
    assert notice.startswith("present is 1 or 0")


def test_a_link_may_name_some_choices_only_and_no_frame():
    asked_for = from_query({"seed": "5"})
    assert (asked_for.choices, asked_for.index) == (Choices(seed=5), None)


@pytest.mark.parametrize("query", [{}, {"step": "3"}, {"other": "1"}])
def test_an_address_without_choices_asks_for_nothing(query):
    assert from_query(query) is None


HOSTILE = "<img src=x onerror=alert(1)> ![x](y)"


@pytest.mark.parametrize("text", [HOSTILE, "", "99999", "-1", "1.5e3", "nan", "9" * 5000])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("prompt", "seed")])
def test_what_cannot_be_honoured_is_told_by_name_and_not_repeated(name, text):
    asked_for = from_query({name: text})
    assert asked_for.choices == Choices()
    (notice,) = asked_for.notices
    assert notice.startswith(f"{name} ")
    assert text not in notice or not text


def test_other_choices_are_honoured_beside_one_that_is_not():
    asked_for = from_query({"seed": "x", "length": "9", "prompt": ""})
    assert asked_for.choices == Choices(length=9)
    assert [notice.split()[0] for notice in asked_for.notices] == ["prompt", "seed"]


@pytest.mark.parametrize(("step", "index"), [("x", None), ("-4", 3), ("12", 15)])
def test_the_frame_is_a_whole_number_or_none(step, index):
    assert from_query({"seed": "5", "first": "3", "step": step}).index == index
