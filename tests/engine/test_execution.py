"""One execution: prefill and decode through the cache give what the network gives on its own."""

import pytest
import torch

import kernels
from pagedkv.cache import CacheConfig, PagedKVCache
from pagedkv.execution import execute
from pagedkv.model.config import ModelConfig
from pagedkv.model.gpt import CharGPT
from pagedkv.model.train import dense_causal_attend

CONFIG = ModelConfig(num_layers=2, channels=32, num_heads=4, num_kv_heads=2, head_dim=16)
DEVICE = kernels.runtime()["device"]


@pytest.fixture(scope="module")
def model() -> CharGPT:
    torch.manual_seed(3)
    return CharGPT(CONFIG).to(DEVICE).requires_grad_(False)


def new_cache(block_size: int = 4, num_blocks: int = 12) -> PagedKVCache:
    config = CacheConfig(
        CONFIG.num_layers, CONFIG.num_kv_heads, CONFIG.head_dim, block_size, num_blocks
    )
    order = [*range(num_blocks // 2, num_blocks), *range(num_blocks // 2)]
    return PagedKVCache(config, order)


def tokens(length: int, seed: int = 0) -> list[int]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(CONFIG.vocab_size, (length,), generator=generator).tolist()


def dense_logits(model: CharGPT, ids: list[int]) -> torch.Tensor:
    """The network without any cache: logits after the last of ``ids``."""
    positions = torch.arange(len(ids), device=DEVICE)
    return model(torch.tensor(ids, device=DEVICE), positions, dense_causal_attend)[-1]


def prefill(model: CharGPT, cache: PagedKVCache, name: str, ids: list[int]) -> torch.Tensor:
    cache.admit(name, len(ids))
    return execute(model, cache, {name: ids})[name]


def decode(model: CharGPT, cache: PagedKVCache, name: str, token_id: int) -> torch.Tensor:
    cache.append(name)
    return execute(model, cache, {name: [token_id]})[name]


def assert_close(one: torch.Tensor, other: torch.Tensor) -> None:
    assert (one - other).abs().max() < 1e-4


@pytest.mark.parametrize("block_size", [1, 3, 4, 5, 16])
@pytest.mark.parametrize("length", [1, 4, 9])
def test_prefill_gives_the_logits_of_the_network_without_a_cache(model, block_size, length):
    cache = new_cache(block_size)
    assert_close(prefill(model, cache, "B", tokens(length)), dense_logits(model, tokens(length)))


@pytest.mark.parametrize("block_size", [1, 3, 4, 5])
def test_prefill_in_one_execution_equals_decoding_one_by_one(model, block_size):
    ids = tokens(9)
    at_once = prefill(model, new_cache(block_size), "B", ids)
    cache = new_cache(block_size)
    logits = prefill(model, cache, "B", ids[:1])
    for token_id in ids[1:]:
        logits = decode(model, cache, "B", token_id)
    assert_close(logits, at_once)
    assert cache.num_stored("B") == 9


def test_a_prompt_may_be_processed_in_chunks(model):
    ids = tokens(9)
    cache = new_cache()
    prefill(model, cache, "B", ids[:5])
    cache.append("B", 4)
    assert_close(execute(model, cache, {"B": ids[5:]})["B"], dense_logits(model, ids))


def test_a_mixed_batch_equals_separate_runs(model):
    b, c, d = tokens(8, seed=1), tokens(6, seed=2), tokens(3, seed=3)
    cache = new_cache()
    prefill(model, cache, "B", b[:7])
    cache.append("B")
    cache.admit("C", 6)
    cache.admit("D", 3)
    together = execute(model, cache, {"D": d, "B": b[7:], "C": c})
    for name, ids in (("B", b), ("C", c), ("D", d)):
        assert_close(together[name], dense_logits(model, ids))


def test_forks_go_on_as_if_each_had_had_the_prompt_alone(model):
    prompt = tokens(6)
    cache = new_cache()
    prefill(model, cache, "R1", prompt)
    cache.fork("R1", "R2")
    for name in ("R1", "R2"):
        cache.append(name)
    logits = execute(model, cache, {"R1": [7], "R2": [11]})
    assert_close(logits["R1"], dense_logits(model, [*prompt, 7]))
    assert_close(logits["R2"], dense_logits(model, [*prompt, 11]))


def test_in_every_layer_a_query_finds_its_own_key_already_written(model):
    """Attending before writing would read NaN at the query's own position."""
    seen = []

    def observe(layer, batch, query, key, value, attended):
        assert torch.isfinite(attended.out).all()
        written = cache.k_cache[layer].flatten(0, 1)[batch.slot_mapping]
        assert torch.equal(written, key)
        seen.append(layer)

    cache = new_cache()
    cache.admit("B", 6)
    execute(model, cache, {"B": tokens(6)}, observe)
    assert seen == [0, 1]


def test_logits_are_those_after_each_requests_last_input(model):
    """Of several rows each: neither an earlier row's nor another request's."""
    inputs = {"C": tokens(6, seed=1), "B": tokens(4, seed=2)}
    cache = new_cache()
    for name in ("B", "C"):
        cache.admit(name, len(inputs[name]))
    logits = execute(model, cache, inputs)
    assert list(logits) == ["C", "B"]
    for name, ids in inputs.items():
        assert logits[name].shape == (CONFIG.vocab_size,)
        assert_close(logits[name], dense_logits(model, ids))
        assert (logits[name] - dense_logits(model, ids[:-1])).abs().max() > 1e-2


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"B": tokens(5)}, r"inputs\['B'\] has 5 token ids; 6 of its positions"),
        ({"B": tokens(7)}, r"inputs\['B'\] has 7 token ids; 6 of its positions"),
        ({"B": tokens(6), "C": tokens(1)}, "got 'C'"),
        ({"B": tokens(6), "S": []}, "'S' has no input to process"),
        ({"B": [1, 2, 3, 4, 5, CONFIG.vocab_size]}, f"token_ids holds {CONFIG.vocab_size}"),
        ({}, r"at least one request .* \(now: B\), got none"),
    ],
)
def test_wrong_inputs_are_refused_and_nothing_is_written(model, inputs, message):
    cache = new_cache()
    prefill(model, cache, "S", tokens(2))
    cache.admit("B", 6)
    before = cache.k_cache.nan_to_num()
    with pytest.raises(ValueError, match=message):
        execute(model, cache, inputs)
    assert torch.equal(cache.k_cache.nan_to_num(), before)
    assert (cache.num_stored("B"), cache.num_stored("S")) == (0, 2)
