"""The network with dense attention, which stands in for the paged cache here."""

import pytest
import torch

from pagedkv.model.config import ModelConfig
from pagedkv.model.gpt import CharGPT
from pagedkv.model.train import dense_causal_attend

CONFIG = ModelConfig()


@pytest.fixture(scope="module")
def model() -> CharGPT:
    torch.manual_seed(0)
    return CharGPT(CONFIG).requires_grad_(False)


def some_tokens(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(7)
    return torch.randint(CONFIG.vocab_size, shape, generator=generator)


class Recorder:
    """An `attend` that keeps what it is given and answers with dense attention."""

    def __init__(self):
        self.calls = []

    def __call__(self, layer, query, key, value):
        self.calls.append((layer, query, key, value))
        return dense_causal_attend(layer, query, key, value)


def test_it_has_under_a_million_parameters_in_the_shape_that_was_agreed(model):
    assert sum(p.numel() for p in model.parameters()) < 1_000_000
    assert (CONFIG.num_layers, CONFIG.channels, CONFIG.context) == (3, 128, 256)
    assert (CONFIG.num_heads, CONFIG.num_kv_heads, CONFIG.head_dim) == (4, 2, 32)


def test_attend_gets_every_layer_in_order_with_grouped_query_shapes(model):
    attend = Recorder()
    model(some_tokens(5), torch.arange(5), attend)
    assert [layer for layer, *_ in attend.calls] == [0, 1, 2]
    for _, query, key, value in attend.calls:
        assert query.shape == (5, 4, 32)
        assert key.shape == value.shape == (5, 2, 32)


def test_logits_are_float32_one_row_a_token(model):
    logits = model(some_tokens(5), torch.arange(5), dense_causal_attend)
    assert logits.shape == (5, CONFIG.vocab_size)
    assert logits.dtype == torch.float32


def test_later_tokens_do_not_change_earlier_logits(model):
    tokens = some_tokens(12)
    whole = model(tokens, torch.arange(12), dense_causal_attend)
    prefix = model(tokens[:7], torch.arange(7), dense_causal_attend)
    torch.testing.assert_close(whole[:7], prefix, atol=1e-5, rtol=0)


def test_an_earlier_token_does_change_later_logits(model):
    tokens, changed = some_tokens(12), some_tokens(12)
    changed[0] = (tokens[0] + 1) % CONFIG.vocab_size
    one, other = (model(t, torch.arange(12), dense_causal_attend) for t in (tokens, changed))
    assert (one[-1] - other[-1]).abs().max() > 1e-4


def test_a_batch_gives_each_window_the_logits_it_has_alone(model):
    tokens = some_tokens(3, 10)
    batch = model(tokens, torch.arange(10), dense_causal_attend)
    for window, logits in zip(tokens, batch, strict=True):
        alone = model(window, torch.arange(10), dense_causal_attend)
        torch.testing.assert_close(logits, alone, atol=1e-5, rtol=0)


def test_rows_of_several_requests_in_one_call_do_not_mix_outside_attend(model):
    """Decode: rows at unrelated positions, each attending to itself alone."""

    def own_value(layer, query, key, value):
        return value.repeat_interleave(query.shape[-2] // value.shape[-2], dim=-2)

    tokens, positions = some_tokens(4), torch.tensor([8, 0, 255, 8])
    together = model(tokens, positions, own_value)
    for row in range(4):
        alone = model(tokens[row : row + 1], positions[row : row + 1], own_value)
        torch.testing.assert_close(together[row : row + 1], alone, atol=1e-5, rtol=0)


def test_keys_are_handed_over_turned_to_their_position(model):
    at_0, at_9 = Recorder(), Recorder()
    model(torch.tensor([5]), torch.tensor([0]), at_0)
    model(torch.tensor([5]), torch.tensor([9]), at_9)
    (_, _, key_0, value_0), (_, _, key_9, value_9) = at_0.calls[0], at_9.calls[0]
    assert (key_0 - key_9).abs().max() > 1e-3
    assert torch.equal(value_0, value_9)


def test_equal_tokens_at_equal_positions_differ_from_layer_1_on_after_another_beginning(model):
    one, other = Recorder(), Recorder()
    model(torch.tensor([3, 20, 30]), torch.arange(3), one)
    model(torch.tensor([4, 20, 30]), torch.arange(3), other)
    differences = [
        (key[1:] - other_key[1:]).abs().max().item()
        for (_, _, key, _), (_, _, other_key, _) in zip(one.calls, other.calls, strict=True)
    ]
    assert differences[0] == 0.0
    assert min(differences[1:]) > 1e-4


def test_logits_can_be_asked_for_some_rows_only(model):
    tokens, positions = some_tokens(2, 6), torch.arange(6)
    whole = model(tokens, positions, dense_causal_attend)
    some = model(tokens, positions, dense_causal_attend, logits_for=torch.tensor([5, 0]))
    torch.testing.assert_close(some, whole[:, [5, 0]], atol=1e-6, rtol=0)


def test_the_last_position_of_the_context_is_accepted(model):
    logits = model(some_tokens(256), torch.arange(256), dense_causal_attend)
    assert torch.isfinite(logits).all()


@pytest.mark.parametrize(
    ("tokens", "positions", "message"),
    [
        (torch.zeros(257, dtype=torch.int64), torch.arange(257), "positions holds 256.*0 to 255"),
        (torch.tensor([1, 2]), torch.tensor([0, -1]), "positions holds -1.*0 to 255"),
        (torch.tensor([62]), torch.tensor([0]), "token_ids holds 62.*0 to 61"),
        (torch.tensor([3, -1]), torch.tensor([0, 1]), "token_ids holds -1.*0 to 61"),
        (torch.tensor([1, 2]), torch.tensor([0]), r"positions has shape \(1,\)"),
        (torch.tensor([], dtype=torch.int64), torch.arange(0), r"token_ids has shape \(0,\)"),
    ],
)
def test_bad_input_is_refused_by_name_before_attention(model, tokens, positions, message):
    attend = Recorder()
    with pytest.raises(ValueError, match=message):
        model(tokens, positions, attend)
    assert attend.calls == []


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"num_heads": 4, "num_kv_heads": 3}, "multiple of num_kv_heads 3"),
        ({"head_dim": 7}, "even"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        ModelConfig(**sizes)
