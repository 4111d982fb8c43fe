"""Captions cite their frames, and sentences say what the numbers are."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from generation_grid import every_choice

from pagedkv.generate import LARGE, Choices, keep
from pagedkv.generate.dense_check import Difference, Proof
from pagedkv.generate.generation import Pace
from pagedkv.generate.sentences import (
    answer_words,
    ended_words,
    held_words,
    progress_words,
    proof_words,
    saving_words,
    stretch_words,
)
from pagedkv.generate.usage import Moment
from pagedkv.layer_work import LayerWork
from pagedkv.trace.facts import resolve

CPU = {"device": "cpu", "backend": "triton-interpreter", "gpu": None}
ALL_WATCHED = LayerWork(3, (0, 1, 2), "triton-interpreter", "torch")


@every_choice
def test_every_number_of_a_caption_stands_in_its_frame(generated, fields):
    trace = generated(**fields).trace()
    for frame in trace.frames:
        for fact in frame.facts:
            assert resolve(fact.path, frame, trace.settings).value == fact.value
        names = [request.name for request in frame.state.requests]
        digits = set(re.findall(r"\d+", re.sub("|".join(names), "", frame.caption)))
        assert digits <= {str(fact.value) for fact in frame.facts}


@every_choice
def test_captions_say_what_was_processed_and_how_many_blocks_are_in_use(generated, fields):
    generation = generated(**fields)
    for moment, frame in zip(generation.moments, generation.trace().frames, strict=True):
        inputs = "1 input" if moment.num_inputs == 1 else f"{moment.num_inputs} inputs"
        blocks = "1 block" if moment.shared == 1 else f"{moment.shared} blocks"
        assert re.search(rf"\b{inputs}\b", frame.caption)
        assert re.search(rf"\b{blocks}\b", frame.caption)
        for copy in moment.copies:
            assert re.search(rf"\b{copy.request}\b.* into P{copy.source},", frame.caption)
            assert re.search(rf"copied.*\bP{copy.destination}\b", frame.caption)


def test_captions_tell_copies_new_blocks_and_neither_apart(generated):
    frames = generated(num_answers=4, length=6).trace().frames
    titles = [frame.title.partition(": ")[2] for frame in frames]
    assert titles == [
        "the prompt, once for all",
        "copied before it is written",
        "in place",
        "a new block each",
        "in place",
        "in place",
    ]
    assert "R1, R2 and R3 had to write into P11" in frames[1].caption
    assert "R4 came last, found itself the only owner" in frames[1].caption
    assert "took a new one: P15, P16, P17 and P18." in frames[3].caption
    assert "no block was taken" in frames[4].caption


def test_one_answer_is_spoken_of_in_the_singular(generated):
    captions = [
        frame.caption
        for frame in generated(num_answers=1, length=5, prompt="ROMEO:").trace().frames
    ]
    assert not re.search(r"answers|each|Every", " ".join(captions))


def test_progress_tells_how_far_how_fast_and_on_what():
    run = SimpleNamespace(pace=Pace(12, 0.4), choices=Choices(length=60), layer_work=ALL_WATCHED)
    words = progress_words(run, CPU)
    assert words == "12 of 240 characters · 30 characters per second · triton-interpreter, CPU"
    run.pace = Pace(0, 0.0)
    assert progress_words(run, {**CPU, "gpu": "H100"}).endswith("interpreter, H100")


def test_of_a_large_model_tokens_are_counted_and_who_did_which_layer_is_said():
    work = LayerWork(30, (29,), "triton-interpreter", "torch")
    choices = Choices(length=60, model=LARGE)
    run = SimpleNamespace(pace=Pace(12, 2.5), choices=choices, layer_work=work)
    assert progress_words(run, CPU) == (
        "12 of 240 tokens · 4.8 tokens per second · "
        "29 layers by torch, layer 29 by triton-interpreter, CPU"
    )
    assert "the same 12 tokens.**" in proof_words(Proof(12, (), 1e-6), choices)


def test_an_end_that_came_early_is_told(generated):
    kept = keep(generated(num_answers=2, length=6))
    kept = replace(kept, pace=Pace(12, 3.0))
    assert ended_words(kept, CPU) == "12 characters · 4.0 per second · triton-interpreter, CPU"
    stopped = replace(kept, was_stopped=True, pace=Pace(8, 2.0))
    assert ended_words(stopped, CPU).startswith("Stopped after 8 of 12 characters")


def test_the_saving_is_told_in_blocks_and_per_cent():
    moment = Moment(9, 4, shared=15, unshared=60, reserved=80, copies=())
    assert held_words(moment).startswith("**15 blocks** in use; 60 without sharing, 80 with")
    assert saving_words(moment, 4) == "Sharing saves **45 blocks, 75 %**."
    one = replace(moment, shared=1, unshared=2)
    assert "**1 block** in use" in held_words(one)
    assert saving_words(one, 2) == "Sharing saves **1 block, 50 %**."


def test_where_nothing_is_saved_it_is_said_why():
    moment = Moment(9, 4, shared=8, unshared=8, reserved=8, copies=())
    assert "nobody to share with" in saving_words(moment, 1)
    assert "fills no block" in saving_words(moment, 2)


def test_the_proof_is_told_with_the_largest_difference():
    words = proof_words(Proof(240, (), 9.5e-6), Choices())
    assert "no cache give the same 240 characters" in words
    assert "9.5e-06" in words


@pytest.mark.parametrize(
    "proof",
    [
        Proof(240, (), 0.2),
        Proof(240, (), float("nan")),
        Proof(240, (Difference("R2", 16, " ", "x"),), 2e-6),
    ],
)
def test_a_proof_that_fails_says_so(proof):
    words = proof_words(proof, Choices())
    assert not proof.agrees
    assert "does not agree" in words
    assert "the same" not in words
    assert ("R2's character 17 is “␣” with the cache and “x” without" in words) == bool(
        proof.differences
    )


def test_the_player_says_which_executions_it_has_if_not_all():
    assert stretch_words(0, 60, 60) == ""
    assert "executions 11 to 30 of 60" in stretch_words(10, 20, 60)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("\n", "↵\n"),
        (" a b", "␣a b"),
        ("a  \n  b c ", "a␣␣↵\n␣␣b c␣"),
        ("", ""),
        ("a\n\nb", "a↵\n↵\nb"),
    ],
)
def test_no_character_of_an_answer_is_lost_to_white_space(text, written):
    assert answer_words(text) == written
