"""The committed weights, and the file format."""

import math

import pytest
import torch
from torch.nn import functional as F

from pagedkv.model import WEIGHTS_PATH, CharGPT, ModelConfig, load_model
from pagedkv.model.corpus import ARCHIVE_SHA256
from pagedkv.model.prompts import PASSAGE_B, PASSAGE_C, PASSAGE_D, PASSAGE_SHARED, prompt
from pagedkv.model.tokenizer import VOCAB_SIZE, decode, encode
from pagedkv.model.train import Recipe, dense_causal_attend
from pagedkv.model.weights import load_record, load_weights, save_weights

PASSAGES = [PASSAGE_B, PASSAGE_C, PASSAGE_SHARED, PASSAGE_D]

# A scene made up for this test, in the plays' manner: no model has seen it.
UNSEEN = (
    "BENVOLIO:\nGood morrow, gentle cousin; what news from the market?\n\n"
    "ROMEO:\nNone that would please thee, sir. The baker is sick,\n"
    "And all his bread is burnt. I had no heart\nTo tell his wife that he will never rise.\n"
)


@pytest.fixture(scope="module")
def model() -> CharGPT:
    return load_model()


def next_logits(model: CharGPT, text: str) -> torch.Tensor:
    token_ids = torch.tensor(encode(text))
    return model(token_ids, torch.arange(len(token_ids)), dense_causal_attend)[-1]


def continued(model: CharGPT, text: str, count: int) -> str:
    """Return the `count` most likely characters after `text`, one by one."""
    start = len(text)
    for _ in range(count):
        text += decode([int(next_logits(model, text).argmax())])
    return text[start:]


def test_the_file_is_small_fp16_and_fits_the_config(model):
    assert WEIGHTS_PATH.stat().st_size <= 2_000_000
    assert WEIGHTS_PATH.stat().st_size < 2.2 * model.num_parameters()
    assert load_record(WEIGHTS_PATH).config == ModelConfig()


def test_the_record_says_that_the_default_recipe_reached_its_aim():
    record = load_record(WEIGHTS_PATH)
    assert (record.steps, record.seed) == (Recipe().steps, Recipe().seed)
    assert record.corpus_sha256 == ARCHIVE_SHA256
    assert record.validation_loss <= 1.60


def test_the_model_loads_for_inference_in_float32(model):
    assert not model.training
    assert all(p.dtype == torch.float32 and not p.requires_grad for p in model.parameters())


def test_loading_and_computing_twice_gives_the_same_bits(model):
    assert torch.equal(next_logits(model, PASSAGE_B), next_logits(load_model(), PASSAGE_B))


def test_the_weights_know_the_language(model):
    """An untrained model is at log(62) = 4.1 nats, character frequencies alone give about 3."""
    token_ids = torch.tensor(encode(UNSEEN))
    logits = model(token_ids[:-1], torch.arange(len(token_ids) - 1), dense_causal_attend)
    assert F.cross_entropy(logits, token_ids[1:]).item() < 2.0 < math.log(VOCAB_SIZE)


def test_a_speaker_is_followed_by_a_new_line_and_a_colon_by_a_speaker(model):
    assert continued(model, "ROMEO:", 1) == "\n"
    assert continued(model, "JULIET", 2) == ":\n"


@pytest.mark.parametrize("passage", PASSAGES)
def test_greedy_decoding_gives_ordinary_words(model, passage):
    words = continued(model, prompt(passage, 6), 30)
    assert " " in words
    assert sum(character.islower() for character in words) > 15


def test_the_two_most_likely_tokens_are_clearly_apart(model):
    """R1 and R2 take first and second: the order must not hang on rounding."""
    first, second, third = next_logits(model, prompt(PASSAGE_SHARED, 6)).topk(3).values.tolist()
    assert first - second > 0.01
    assert second - third > 0.01


def test_the_model_works_at_the_end_of_its_context(model):
    text = (UNSEEN * 2)[:256]
    token_ids = torch.tensor(encode(text))
    logits = model(token_ids[:-1], torch.arange(255), dense_causal_attend)
    last = F.cross_entropy(logits[128:], token_ids[129:]).item()
    assert last < 2.0


def test_saving_keeps_weights_to_half_precision_and_the_whole_record(tmp_path, model):
    record = load_record(WEIGHTS_PATH)
    save_weights(tmp_path / "w", model, record)
    again = load_weights(tmp_path / "w")
    assert load_record(tmp_path / "w") == record
    for name, tensor in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor)


def test_a_model_says_how_large_it_is(model):
    learnt = sum(p.numel() for p in model.parameters())
    assert model.num_parameters() == learnt
    assert model.name == f"chargpt 3x128, {learnt / 1e6:.1f}M parameters"
