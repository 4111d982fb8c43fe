"""The network of a loaded folder: what the definitions give, with and without the cache."""

from itertools import pairwise

import pytest
import torch
from tiny_llama import (
    CONFIG,
    CONTEXT,
    LAYERS,
    VOCAB,
    random_weights,
    reference_logits,
    some_ids,
    write_folder,
)

import kernels
from pagedkv.engine import ContextFullError, Engine
from pagedkv.llama import Llama, load_llama
from pagedkv.model.train import dense_causal_attend

DEVICE = kernels.runtime()["device"]
PROMPT = "The fifth is 125, the é"


@pytest.fixture(scope="module")
def llama(tmp_path_factory) -> Llama:
    return load_llama(write_folder(tmp_path_factory.mktemp("models") / "tiny"), DEVICE)


def dense_logits(model: Llama, ids: list[int]) -> torch.Tensor:
    """Logits [n, VOCAB] of the network without a cache."""
    positions = torch.arange(len(ids), device=DEVICE)
    return model(torch.tensor(ids, device=DEVICE), positions, dense_causal_attend)


def greedy(engine: Engine, name: str, count: int) -> list[int]:
    """Execute, select and append ``count`` times; the ids of the whole request."""
    for _ in range(count):
        engine.execute(name)
        engine.select(name)
        engine.append(name)
    return engine._requests[name].token_ids


@pytest.mark.parametrize("tied", [True, False])
def test_logits_are_those_of_the_definitions(tmp_path, tied):
    weights = random_weights(tied=tied)
    folder = write_folder(tmp_path / "m", weights, CONFIG | {"tie_word_embeddings": tied})
    ids = some_ids(21)
    found = dense_logits(load_llama(folder, DEVICE), ids).cpu()
    expected = reference_logits(weights, ids)
    assert expected.std() > 1  # logits that say something
    assert (found - expected).abs().max() < 1e-3


@pytest.mark.parametrize(
    ("field", "biased"), [("attention_bias", ["self_attn."]), ("mlp_bias", ["mlp."])]
)
def test_biases_are_added_where_the_config_has_them(tmp_path, field, biased):
    weights = random_weights(biased=biased)
    folder = write_folder(tmp_path / "m", weights, CONFIG | {field: True})
    ids = some_ids(13)
    expected = reference_logits(weights, ids)
    assert (dense_logits(load_llama(folder, DEVICE), ids).cpu() - expected).abs().max() < 1e-3
    assert (reference_logits(random_weights(), ids) - expected).abs().max() > 0.5


def test_another_order_of_rope_would_be_noticed():
    """So that the test above proves that pairs are those of the folder's format."""
    ids = some_ids(21)
    right, wrong = (
        reference_logits(random_weights(), ids, interleaved=interleaved)
        for interleaved in (False, True)
    )
    assert (right - wrong).abs().max() > 0.5


def test_a_wrong_eps_would_be_noticed(tmp_path):
    folder = write_folder(tmp_path / "m", config=CONFIG | {"rms_norm_eps": 1e-1})
    ids = some_ids(9)
    found = dense_logits(load_llama(folder, DEVICE), ids).cpu()
    assert (found - reference_logits(random_weights(), ids)).abs().max() > 1e-2


def test_it_is_loaded_for_inference_in_float32_with_a_name(llama):
    assert not llama.training
    assert all(p.dtype == torch.float32 and not p.requires_grad for p in llama.parameters())
    assert llama.head.weight is llama.embedding.weight
    assert llama.num_parameters() == sum(t.numel() for t in random_weights().values())
    assert (llama.name, llama.config.end_ids) == ("tiny", (2,))


def test_positions_and_ids_out_of_range_are_refused_before_any_attention(llama):
    def attend(*arguments):
        raise AssertionError("attend was called")

    ids = torch.zeros(1, dtype=torch.int64, device=DEVICE)
    for token, position, message in ((VOCAB, 0, "token_ids"), (0, CONTEXT, "positions")):
        with pytest.raises(ValueError, match=message):
            llama(ids + token, ids + position, attend)


@pytest.mark.parametrize("block_size", [1, 4, 5])
@pytest.mark.parametrize("watched", [None, [1], []])
def test_greedy_decoding_through_the_paged_cache_equals_the_network_without_one(
    llama, block_size, watched
):
    order = tuple(reversed(range(60)))
    engine = Engine(
        llama, block_size=block_size, num_blocks=60, free_order=order, watched_layers=watched
    )
    engine.admit("B", PROMPT)
    ids = greedy(engine, "B", 8)
    prompt_ids = llama.tokenizer.encode(PROMPT)
    logits = dense_logits(llama, ids)
    assert ids[: len(prompt_ids)] == prompt_ids
    assert ids[len(prompt_ids) :] == logits[len(prompt_ids) - 1 : -1].argmax(-1).tolist()
    engine.execute("B")
    assert (engine.logits("B") - logits[-1].cpu()).abs().max() < 1e-3
    assert engine.text("B") == llama.tokenizer.decode(ids)


def test_layers_nobody_watches_change_no_token_and_hardly_a_logit(llama):
    runs = []
    for watched in (None, [2], [0, 2], []):
        engine = Engine(llama, block_size=4, num_blocks=16, watched_layers=watched)
        engine.admit("B", PROMPT)
        ids = greedy(engine, "B", 6)
        engine.execute("B")
        runs.append((tuple(ids), engine.logits("B"), engine.cache.k_cache[:, :12].cpu()))
    assert len({ids for ids, *_ in runs}) == 1
    for (_, one, keys), (_, other, other_keys) in pairwise(runs):
        assert (one - other).abs().max() < 1e-4
        assert (keys - other_keys).abs().nan_to_num().max() < 1e-4
        assert torch.equal(keys.isnan(), other_keys.isnan())


def test_a_watched_layer_is_checked_and_the_others_are_not(llama):
    engine = Engine(llama, block_size=4, num_blocks=16, watched_layers=[1])
    engine.admit("B", PROMPT)
    engine.execute("B")
    record = engine.last_attention("B", 1)
    assert {r.layer for r in engine.attention["B"]} == {1}
    assert record.paged.weights.shape == (9, len(llama.tokenizer.encode(PROMPT)))
    assert (record.paged.weights - record.dense.weights).abs().max() < 1e-5
    assert (record.paged.out - record.dense.out).abs().max() < 1e-5
    with pytest.raises(ValueError, match=r"layer 2 is not watched.*watched: 1"):
        engine.last_attention("B", 2)
    with pytest.raises(ValueError, match="layer 0: not watched"):
        engine.reference.keys("B", 0)


def test_forks_and_copy_on_write_cover_unwatched_layers(llama):
    engine = Engine(llama, block_size=4, num_blocks=20, watched_layers=[0])
    prompt = "the 12345"
    engine.admit("R1", prompt)
    engine.execute("R1")
    engine.fork("R1", "R2")
    for name, rank in (("R1", 0), ("R2", 1)):
        engine.select(name, rank)
        engine.append(name)
    engine.execute("R1", "R2")
    for name in ("R1", "R2"):
        ids = engine._requests[name].token_ids
        expected = dense_logits(llama, ids)[-1].cpu()
        assert (engine.logits(name) - expected).abs().max() < 1e-3
        assert engine.last_attention(name, 0).position == len(ids) - 1


def test_the_context_of_the_model_is_the_engines_bound(llama):
    engine = Engine(llama, block_size=4, num_blocks=40)
    with pytest.raises(ContextFullError, match=f"context has {CONTEXT}"):
        engine.admit("B", "x" * (CONTEXT + 1))
    assert llama.config.num_layers == LAYERS
