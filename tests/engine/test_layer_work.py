"""Which layers are watched, and which backend does which."""

import pytest
import torch

import kernels
from pagedkv.cache import CacheConfig, PagedKVCache
from pagedkv.engine import Engine
from pagedkv.evidence import look_up
from pagedkv.layer_work import LayerWork
from pagedkv.model import CharGPT, load_model

DEVICE = kernels.runtime()["device"]


@pytest.fixture(scope="module")
def model() -> CharGPT:
    return load_model(DEVICE)


def on(monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    runtime = {"device": "cpu", "backend": backend, "gpu": None}
    monkeypatch.setattr(kernels, "runtime", lambda: runtime)


def test_without_a_word_every_layer_is_watched(monkeypatch):
    on(monkeypatch, "triton-interpreter")
    work = LayerWork.make(3)
    assert work.watched == (0, 1, 2)
    assert work.torch_layers == ()
    assert work.by_backend == {"triton-interpreter": (0, 1, 2)}


def test_the_interpreter_leaves_the_other_layers_to_torch(monkeypatch):
    on(monkeypatch, "triton-interpreter")
    work = LayerWork.make(5, [3, 1, 3])
    assert work.watched == (1, 3)
    assert work.torch_layers == (0, 2, 4)
    assert work.by_backend == {"torch": (0, 2, 4), "triton-interpreter": (1, 3)}
    assert [work.backend(layer) for layer in (0, 1)] == ["torch", "triton-interpreter"]


@pytest.mark.parametrize("backend", ["triton-cuda", "torch"])
def test_where_nothing_is_interpreted_one_backend_does_all(monkeypatch, backend):
    on(monkeypatch, backend)
    work = LayerWork.make(5, [1])
    assert work.torch_layers == ()
    assert work.by_backend == {backend: (0, 1, 2, 3, 4)}


def test_nothing_need_be_watched(monkeypatch):
    on(monkeypatch, "triton-interpreter")
    assert LayerWork.make(2, []).by_backend == {"torch": (0, 1)}


@pytest.mark.parametrize("layer", [-1, 3, True, 1.0, "0", None])
def test_what_is_no_layer_is_refused(model, layer):
    with pytest.raises(ValueError, match="watched_layers must be a whole number from 0 to 2"):
        Engine(model, block_size=4, num_blocks=6, watched_layers=[layer])
    with pytest.raises(ValueError, match="torch_layers must be a whole number from 0 to 2"):
        PagedKVCache(CacheConfig(3, 2, 32, 4, 6), torch_layers=[layer])


def backends_asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """What the launchers are asked for from now on, in order."""
    asked = []
    for name in ("write_slots", "paged_prefill", "paged_attention"):
        launcher = getattr(kernels, name)

        def listening(*arguments, launcher=launcher, name=name, **options):
            asked.append((name, options.get("backend")))
            return launcher(*arguments, **options)

        monkeypatch.setattr(kernels, name, listening)
    return asked


def test_the_launchers_are_asked_for_what_the_engine_says(monkeypatch, model):
    engine = Engine(model, block_size=4, num_blocks=6, watched_layers=[1])
    asked = backends_asked(monkeypatch)
    engine.admit("B", "ROMEO:")
    engine.execute("B")
    engine.select("B")
    engine.append("B")
    engine.execute("B")
    others = "torch" if engine.layer_work.torch_layers else None
    expected = [
        (launcher, backend)
        for attention in ("paged_prefill", "paged_attention")
        for backend in (others, None, others)
        for launcher in ("write_slots", attention)
    ]
    assert asked == expected
    assert others == "torch" or kernels.runtime()["backend"] != "triton-interpreter"


def test_an_engine_that_watches_all_asks_for_nothing_else(monkeypatch, model):
    engine = Engine(model, block_size=4, num_blocks=6)
    asked = backends_asked(monkeypatch)
    engine.admit("B", "ROMEO:")
    engine.execute("B")
    assert asked == [("write_slots", None), ("paged_prefill", None)] * 3


def test_watching_one_layer_gives_what_watching_all_gives(model):
    engines = [
        Engine(model, block_size=4, num_blocks=6, watched_layers=watched) for watched in (None, [2])
    ]
    for engine in engines:
        engine.admit("B", "ROMEO:")
        for _ in range(4):
            engine.execute("B")
            engine.select("B")
            engine.append("B")
        engine.execute("B")
    all_watched, one = engines
    assert one.text("B") == all_watched.text("B")
    assert (one.logits("B") - all_watched.logits("B")).abs().max() < 1e-4
    records = [engine.last_attention("B", 2) for engine in engines]
    assert (records[0].paged.weights - records[1].paged.weights).abs().max() < 1e-5
    assert [r.layer for r in one.attention["B"]] == [2]


def test_an_unwatched_layer_has_no_record_and_says_so(model):
    engine = Engine(model, block_size=4, num_blocks=6, watched_layers=[0, 2])
    engine.admit("B", "ROMEO:")
    with pytest.raises(ValueError, match="nothing of 'B' was executed yet"):
        engine.last_attention("B", 0)
    engine.execute("B")
    with pytest.raises(ValueError, match=r"layer 1 is not watched.*\(watched: 0, 2\)"):
        engine.last_attention("B", 1)
    with pytest.raises(ValueError, match="layer must be a whole number from 0 to 2"):
        engine.last_attention("B", 3)


def test_look_ups_compare_the_watched_layers(model):
    engine = Engine(model, block_size=4, num_blocks=6, watched_layers=[1])
    engine.admit("B", "ROMEO:")
    engine.execute("B")
    assert all(view.max_abs_error_k == 0.0 for view in look_up(engine, "B"))
    place = engine.cache.locate("B", 2)
    engine.cache.k_cache[0, place.block_id, place.offset] += 1  # nobody watches layer 0
    assert look_up(engine, "B")[2].max_abs_error_k == 0.0
    engine.cache.k_cache[1, place.block_id, place.offset] += 1
    assert look_up(engine, "B")[2].max_abs_error_k == pytest.approx(1.0, abs=1e-5)


def test_an_engine_without_watched_layers_still_forks_and_selects(model):
    engine = Engine(model, block_size=4, num_blocks=6, watched_layers=[])
    engine.admit("R1", "ROMEO:")
    engine.execute("R1")
    engine.fork("R1", "R2")
    for name in ("R1", "R2"):
        engine.select(name)
        engine.append(name)
    engine.execute("R1", "R2")
    assert torch.equal(engine.logits("R1"), engine.logits("R2"))
    assert engine.attention == {"R1": (), "R2": ()}
    with pytest.raises(ValueError, match=r"watched: none"):
        engine.last_attention("R1", 0)
    with pytest.raises(ValueError, match="no layer is watched"):
        look_up(engine, "R1")
    engine.finish("R1")
    assert engine.requests == ("R2",)
