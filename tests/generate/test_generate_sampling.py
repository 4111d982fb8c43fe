"""Sampling: the likeliest at 0, never outside the top k, as often as probable, and reproducible."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pagedkv.generate.sampling import draws, pick

LOGITS = st.lists(st.floats(-50, 50, width=32, allow_subnormal=False), min_size=1, max_size=12).map(
    torch.tensor
)
DRAW = st.floats(0, 1, exclude_max=True)
TEMPERATURE = st.floats(0, 2)


@given(LOGITS, TEMPERATURE, st.integers(1, 12), DRAW)
def test_only_the_likeliest_k_are_ever_drawn(logits, temperature, top_k, draw):
    token_id = pick(logits, temperature, top_k, draw)
    likelier = [i for i, x in enumerate(logits.tolist()) if x > logits[token_id]]
    equal_before = [i for i in range(token_id) if logits[i] == logits[token_id]]
    assert len(likelier) + len(equal_before) < top_k


@given(LOGITS, DRAW)
def test_at_temperature_zero_the_first_of_the_likeliest_is_taken(logits, draw):
    numbers = logits.tolist()
    assert pick(logits, 0, 12, draw) == numbers.index(max(numbers))


@given(LOGITS, DRAW)
def test_a_top_k_of_one_is_temperature_zero(logits, draw):
    assert pick(logits, 0.7, 1, draw) == pick(logits, 0, 12, draw)


@pytest.mark.parametrize(("temperature", "top_k"), [(1.0, 4), (0.5, 4), (2.0, 3), (1.0, 2)])
def test_each_token_is_drawn_as_often_as_it_is_probable(temperature, top_k):
    logits = [1.0, -0.5, 2.0, 0.25]
    kept = sorted(logits, reverse=True)[:top_k]
    weights = [math.exp(x / temperature) if x in kept else 0.0 for x in logits]
    count = 4000
    drawn = [pick(torch.tensor(logits), temperature, top_k, i / count) for i in range(count)]
    for token_id, weight in enumerate(weights):
        assert abs(drawn.count(token_id) / count - weight / sum(weights)) < 1 / 1000


def test_draws_at_either_end_find_a_token_that_is_kept():
    logits = torch.tensor([-40.0, 3.0, 3.0, -40.0])
    assert pick(logits, 1.0, 2, 0.0) == 1
    assert pick(logits, 1.0, 2, math.nextafter(1, 0)) == 2


def test_a_temperature_next_to_zero_overflows_nothing():
    logits = torch.tensor([30.0, 30.5, -90.0])
    assert pick(logits, 1e-300, 3, 0.999) == 1


def test_rounding_errors_of_logits_hardly_ever_change_a_token():
    noise = torch.Generator().manual_seed(0)
    changed = 0
    for draw in draws(seed=1, answer=0, count=500):
        logits = torch.randn(63, generator=noise) * 3
        other = logits + 1e-6 * torch.randn(63, generator=noise)
        changed += pick(logits, 0.8, 20, draw) != pick(other, 0.8, 20, draw)
    assert changed == 0


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_from_what_is_no_number_nothing_is_drawn(broken):
    with pytest.raises(ValueError, match="finite"):
        pick(torch.tensor([0.0, broken]), 0.8, 2, 0.5)


@given(st.integers(0, 2**31 - 1), st.integers(0, 7), st.integers(0, 40))
def test_a_seed_and_an_answer_always_draw_the_same(seed, answer, count):
    drawn = draws(seed, answer, count)
    assert drawn == draws(seed, answer, count)
    assert len(drawn) == count
    assert all(0 <= number < 1 for number in drawn)


def test_no_two_answers_of_any_seeds_draw_the_same():
    drawn = {draws(seed, answer, 3) for seed in range(40) for answer in range(8)}
    assert len(drawn) == 40 * 8


def test_an_answer_beyond_those_that_are_kept_apart_is_refused():
    with pytest.raises(ValueError, match="answer"):
        draws(0, 64, 1)
