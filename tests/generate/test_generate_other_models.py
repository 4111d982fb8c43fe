"""Models that end their texts, and models too deep to be watched in every layer."""

from copy import copy
from dataclasses import dataclass

import pytest
import torch

import kernels
from pagedkv.generate import Choices, Generation, keep
from pagedkv.generate.story import STORY
from pagedkv.model import CharGPT, ModelConfig
from pagedkv.player import player_data
from pagedkv.trace.errors import agree

ENDS = " \n"


@dataclass(frozen=True, slots=True)
class EndingConfig(ModelConfig):
    """The course's model, if white space ended its texts."""

    ends: tuple[int, ...] = ()

    @property
    def end_ids(self) -> tuple[int, ...]:
        return self.ends


@pytest.fixture(scope="module")
def ended(model: CharGPT) -> Generation:
    ending = copy(model)
    ending.config = EndingConfig(ends=tuple(model.tokenizer.encode(ENDS)))
    generation = Generation(Choices(num_answers=4, length=12), ending)
    for _ in generation.steps():
        pass
    return generation


@pytest.fixture(scope="module")
def deep() -> Generation:
    torch.manual_seed(0)
    config = ModelConfig(num_layers=6, channels=32, num_heads=4, num_kv_heads=2, head_dim=8)
    model = CharGPT(config).to(kernels.runtime()["device"]).eval().requires_grad_(False)
    generation = Generation(Choices(num_answers=2, length=5), model)
    for _ in generation.steps():
        pass
    return generation


def test_an_answer_ends_with_the_token_that_ends_texts(ended: Generation, generated):
    whole = generated(num_answers=4, length=12).texts()
    lengths = {len(text) for text in ended.texts()}
    assert len(lengths) > 1, "choose another seed: they should end at different moments"
    for text, unended in zip(ended.texts(), whole, strict=True):
        assert unended.startswith(text)
        assert not set(text[:-1]) & set(ENDS)
        assert len(text) == 12 or text[-1] in ENDS
    assert ended.is_done
    assert ended.pace.num_tokens == sum(map(len, ended.texts()))


def test_who_has_ended_is_not_processed_any_more_and_keeps_its_blocks(ended: Generation):
    lengths = [len(text) for text in ended.texts()]
    for moment in ended.moments[1:]:
        assert moment.num_inputs == sum(length >= moment.number for length in lengths)
    assert len(ended.moments) == max(lengths)
    held = [moment.unshared for moment in ended.moments]
    assert held == sorted(held)
    assert len(ended.trace().frames[-1].state.requests) == 4


def test_captions_say_who_ends(ended: Generation):
    names, frames = ended.choices.names, ended.trace().frames
    for name, text in zip(names, ended.texts(), strict=True):
        told = [number for number, frame in enumerate(frames, 1) if name in ending_words(frame)]
        assert told == ([len(text)] if text[-1] in ENDS else [])
    assert any("each answer that goes on" in frame.caption for frame in frames)


def ending_words(frame) -> str:
    sentences = frame.caption.split(". ")
    return sentences[-1] if "ends a text" in sentences[-1] else ""


def test_answers_that_ended_are_proved_and_kept(ended: Generation):
    kept = keep(ended)
    assert kept.proof.agrees
    assert kept.proof.num_tokens == ended.pace.num_tokens
    assert not kept.was_stopped


def test_of_a_deep_model_the_last_layer_is_watched_and_shown(deep: Generation):
    trace = deep.trace()
    assert trace.layers == deep.layer_work.watched == (5,)
    for frame in trace.frames:
        assert {view.layer for view in frame.attention} == {5}
        assert agree(view.max_abs_error_output for view in frame.attention)
    assert trace.vectors.shape[1:] == (2, 1, 2, 8)
    heads = player_data(trace, STORY)["heads"]
    assert (heads["layers"], heads["start"]["layer"]) == ([5], 5)


def test_the_vectors_of_a_watched_layer_are_those_of_the_pool(deep: Generation):
    cache, trace = deep._stage.engine.cache, deep.trace()
    ids = trace.frames[-1].vector_ids
    for position in range(cache.num_stored("R2")):
        place = cache.locate("R2", position)
        vector = trace.vectors[ids[place.block_id][place.offset]]
        for pool, shown in zip((cache.k_cache, cache.v_cache), vector, strict=True):
            held = pool[5, place.block_id, place.offset].cpu().numpy()
            assert (shown[0] == held).all()


def test_a_deep_model_is_proved_too(deep: Generation):
    assert keep(deep).proof.agrees
