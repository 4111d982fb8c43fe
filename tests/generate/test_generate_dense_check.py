"""The proof: it agrees with a run that is right, and objects to every one that is not."""

from dataclasses import replace

import pytest
import torch

import pagedkv.cache
from pagedkv.generate import Check, Choices, Generation, check_of, dense_check, prove
from pagedkv.generate.dense_check import LOGIT_TOLERANCE, causal_attention, dense_logits
from pagedkv.generate.sampling import draws, pick
from pagedkv.model.train import dense_causal_attend

RUNS = [
    {"num_answers": 4, "length": 6},
    {"num_answers": 2, "length": 1},
    {"num_answers": 3, "length": 8, "temperature": 0.0, "block_size": 5},
    {"num_answers": 2, "length": 8, "temperature": 2.0, "top_k": 62, "prompt": "x"},
]


@pytest.mark.parametrize("fields", RUNS, ids=str)
def test_a_right_run_is_confirmed(generated, fields):
    generation = generated(**fields)
    proof = prove(generation)
    assert proof.agrees
    assert proof.num_tokens == generation.choices.num_answers * generation.choices.length
    assert 0 < proof.largest_logit_difference < LOGIT_TOLERANCE / 10


def test_a_stopped_run_is_confirmed_as_far_as_it_came(model):
    generation = Generation(Choices(num_answers=2, length=9), model)
    for _ in range(4):
        generation.advance()
    proof = prove(generation)
    assert proof.agrees
    assert proof.num_tokens == 8


def test_nothing_is_no_proof(model):
    with pytest.raises(ValueError, match="1 or more"):
        prove(Generation(Choices(), model))


def test_writing_freely_without_a_cache_gives_the_same_characters(generated, model):
    """What the proof claims, done the long way: token by token, everything anew each time."""
    generation = generated(num_answers=2, length=6)
    choices = generation.choices
    for place, text in enumerate(generation.texts()):
        token_ids = list(generation.prompt_ids)
        for draw in draws(choices.seed, place, choices.length):
            with torch.inference_mode():
                logits = model(
                    torch.tensor(token_ids, device=model.embedding.weight.device),
                    torch.arange(len(token_ids), device=model.embedding.weight.device),
                    dense_causal_attend,
                )
            token_ids.append(pick(logits[-1], choices.temperature, choices.top_k, draw))
        assert model.tokenizer.decode(token_ids) == choices.prompt + text


def test_attention_is_that_of_the_training(model):
    noise = torch.Generator().manual_seed(0)
    query = torch.randn(2, 7, 4, 32, generator=noise)
    key, value = torch.randn(2, 2, 7, 2, 32, generator=noise)
    expected = dense_causal_attend(0, query, key, value)
    torch.testing.assert_close(causal_attention(0, query, key, value), expected)


def test_a_token_that_was_not_drawn_is_named(generated, model):
    generation = generated(num_answers=4, length=6)
    answers = list(generation.answers())
    changed = list(answers[1].token_ids)
    changed[4] = (changed[4] + 1) % 62
    answers[1] = replace(answers[1], token_ids=tuple(changed))
    proof = Check(model, generation.choices, generation.prompt_ids, answers).proof()
    (difference,) = proof.differences
    assert (difference.name, difference.index) == ("R2", 4)
    assert difference.dense == generation.texts()[1][4]
    assert difference.cached == model.tokenizer.decode([changed[4]])
    assert not proof.agrees


@pytest.mark.parametrize("wrong_by", [0.25, float("nan")])
def test_logits_that_are_off_are_noticed_even_where_no_token_changes(generated, model, wrong_by):
    generation = generated(num_answers=4, length=6)
    answers = list(generation.answers())
    off = answers[2].logits.clone()
    off[3, 17] += wrong_by
    answers[2] = replace(answers[2], logits=off)
    proof = Check(model, generation.choices, generation.prompt_ids, answers).proof()
    assert not proof.differences
    assert proof.largest_logit_difference == pytest.approx(wrong_by, abs=1e-4, nan_ok=True)
    assert not proof.agrees


def test_answers_of_different_lengths_are_each_checked_to_their_end(generated, model):
    generation = generated(num_answers=4, length=6)
    first, *others = generation.answers()
    shorter = replace(first, token_ids=first.token_ids[:3], logits=first.logits[:3])
    answers = [shorter, *others]
    proof = Check(model, generation.choices, generation.prompt_ids, answers).proof()
    assert (proof.agrees, proof.num_tokens) == (True, 21)


def test_a_check_goes_answer_by_answer_and_can_be_left_after_any(generated, monkeypatch):
    generation = generated(num_answers=4, length=6)
    run = []

    def spied(model, prompt_ids, token_ids):
        run.append(token_ids)
        return dense_logits(model, prompt_ids, token_ids)

    monkeypatch.setattr(dense_check, "dense_logits", spied)
    check = check_of(generation)
    for number in range(1, 4):
        check.advance()
        assert (check.num_checked, check.num_answers, check.is_done) == (number, 4, False)
    assert check.proof() == check.proof() == prove(generation)
    assert run[:4] == [answer.token_ids for answer in generation.answers()]
    assert len(run) == 8  # four of them in ``prove``
    with pytest.raises(ValueError, match="all 4 answers are checked"):
        check.advance()


def test_an_answer_whose_check_broke_can_be_checked_again(generated, monkeypatch):
    check = check_of(generated(num_answers=4, length=6))
    check.advance()
    with monkeypatch.context() as broken:
        broken.setattr(dense_check, "pick", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            check.advance()
    assert check.num_checked == 1
    assert check.proof() == prove(generated(num_answers=4, length=6))


def test_an_answer_without_a_token_is_refused(generated, model):
    generation = generated(num_answers=4, length=6)
    first, *others = generation.answers()
    none = replace(first, token_ids=(), logits=first.logits[:0])
    with pytest.raises(ValueError, match=r"\[0, 6, 6, 6\]"):
        Check(model, generation.choices, generation.prompt_ids, [none, *others])


def test_a_copy_that_copies_nothing_useful_is_objected_to(model, monkeypatch):
    """Copy-on-write hands out a fresh block, but with zeros in it: R4 alone kept the prompt."""

    def copy_zeros(k_cache, v_cache, pairs):
        for cache in (k_cache, v_cache):
            cache[:, pairs[:, 1]] = 0

    monkeypatch.setattr(pagedkv.cache.kernels, "copy_blocks", copy_zeros)
    generation = Generation(Choices(num_answers=4, length=12, top_k=62, temperature=1.5), model)
    for _ in generation.steps():
        pass
    proof = prove(generation)
    assert not proof.agrees
    assert proof.largest_logit_difference > 0.1
    assert {difference.name for difference in proof.differences} <= {"R1", "R2", "R3"}
    assert proof.differences


def test_a_copy_that_is_left_out_leaves_no_numbers_to_draw_from(model, monkeypatch):
    monkeypatch.setattr(pagedkv.cache.kernels, "copy_blocks", lambda *_: None)
    generation = Generation(Choices(num_answers=2, length=4), model)
    generation.advance()
    with pytest.raises(ValueError, match="finite"):
        generation.advance()


def test_the_logits_of_an_answer_come_from_its_own_tokens_but_the_last(model):
    prompt = model.tokenizer.encode("To be")
    one, other = (
        dense_logits(model, prompt, model.tokenizer.encode(text)) for text in (" or not", " and so")
    )
    assert one.shape == other.shape == (7, 62)
    assert not torch.equal(one[2:], other[2:])
    torch.testing.assert_close(one[:2], other[:2])  # " " alone is before these
