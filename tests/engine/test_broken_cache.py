"""The proof must be able to fail: break the cache on purpose, and the dense reference objects.

Each break is one that real systems have had. What must come of it is an error far above rounding,
or NaN; the unbroken cache is the control.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

import kernels
from pagedkv.block_manager import BlockManager
from pagedkv.cache import PagedKVCache
from pagedkv.engine import Engine
from pagedkv.evidence import look_up
from pagedkv.lessons import find_lesson
from pagedkv.model import CharGPT, load_model
from pagedkv.recorder import record
from pagedkv.settings import Settings
from pagedkv.trace.as_json import trace_to_dict

Break = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(scope="module")
def model() -> CharGPT:
    return load_model(kernels.runtime()["device"])


def two_answers(model: CharGPT) -> Engine:
    """Old bytes everywhere, then a prompt of 6, a fork, and 3 own inputs for each answer."""
    engine = Engine(model, block_size=4, num_blocks=6)
    engine.admit("before", "Now is the winter of our")
    engine.execute("before")
    engine.finish("before")
    engine.admit("R1", "To be,")
    engine.execute("R1")
    engine.fork("R1", "R2")
    engine.select("R1")
    engine.select("R2", rank=1)
    for _ in range(3):
        for name in ("R1", "R2"):
            engine.append(name)
        engine.execute("R1", "R2")
        for name in ("R1", "R2"):
            engine.select(name)
    return engine


def errors(engine: Engine) -> tuple[float, float]:
    """The largest differences to dense, of weights and of outputs; NaN counts as infinite."""
    records = [record for records in engine.attention.values() for record in records]
    assert len(records) == 2 * 3
    weights = max(largest(r.paged.weights - r.dense.weights) for r in records)
    return weights, max(largest(r.paged.out - r.dense.out) for r in records)


def largest(difference: torch.Tensor) -> float:
    worst = float(difference.abs().max())
    return math.inf if math.isnan(worst) else worst


def with_batch(monkeypatch: pytest.MonkeyPatch, method: str, change: Callable) -> None:
    """Let ``write`` or ``attend`` work with a changed batch."""
    right = getattr(PagedKVCache, method)

    def wrong(self, layer, batch, *tensors):
        return right(self, layer, change(batch), *tensors)

    monkeypatch.setattr(PagedKVCache, method, wrong)


def wrong_table_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last entry of every table points to the next block."""

    def change(batch):
        tables = batch.block_tables.clone()
        last = (batch.context_lens - 1).long() // 4
        rows = torch.arange(len(tables), device=tables.device)
        tables[rows, last] = (tables[rows, last] + 1) % 6
        return replace(batch, block_tables=tables)

    with_batch(monkeypatch, "attend", change)


def table_out_of_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first two blocks of a table have changed places, where both are full."""

    def change(batch):
        tables = batch.block_tables.clone()
        for row in (batch.context_lens >= 8).nonzero().flatten().tolist():
            tables[row, :2] = tables[row, :2].flip(0)
        return replace(batch, block_tables=tables)

    with_batch(monkeypatch, "attend", change)


def missed_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table was turned to a fresh block, and nobody copied into it."""
    monkeypatch.setattr(kernels, "copy_blocks", lambda k_cache, v_cache, pairs: None)


def write_into_a_shared_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks at the ref count before the write."""
    monkeypatch.setattr(BlockManager, "_must_copy", lambda self, request: False)
    write_slots = kernels.write_slots

    def one_by_one(key, value, k_layer, v_layer, slots):  # the launcher refuses a slot given twice
        for i in range(len(slots)):
            rows = slice(i, i + 1)
            write_slots(key[rows], value[rows], k_layer, v_layer, slots[rows])

    monkeypatch.setattr(kernels, "write_slots", one_by_one)


def one_slot_unmasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The context length is one too long where the last block has room: old bytes take part."""

    def change(batch):
        room = (batch.context_lens + 3) // 4 * 4
        return replace(batch, context_lens=torch.minimum(batch.context_lens + 1, room))

    with_batch(monkeypatch, "attend", change)


def one_slot_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The context length is one too short: the query does not see itself."""
    right = PagedKVCache.attend

    def wrong(self, layer, batch, query):
        attended = right(self, layer, replace(batch, context_lens=batch.context_lens - 1), query)
        short = attended.weights.shape[2]
        missing = int(batch.context_lens.max()) - short
        return replace(attended, weights=torch.nn.functional.pad(attended.weights, (0, missing)))

    monkeypatch.setattr(PagedKVCache, "attend", wrong)


def written_one_slot_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """K and V go to the slot behind their own."""

    def change(batch):
        return replace(batch, slot_mapping=(batch.slot_mapping + 1) % 24)

    with_batch(monkeypatch, "write", change)


def wrong_kv_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """Query heads read each other's KV head."""
    paged_attention = kernels.paged_attention

    def wrong(query, k_layer, v_layer, *arguments, **options):
        return paged_attention(query, k_layer.flip(2), v_layer.flip(2), *arguments, **options)

    monkeypatch.setattr(kernels, "paged_attention", wrong)


def forgotten_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores are not divided by the square root of head_dim."""
    paged_attention = kernels.paged_attention

    def wrong(*arguments, **options):
        return paged_attention(*arguments, **options, scale=1.0)

    monkeypatch.setattr(kernels, "paged_attention", wrong)


def k_written_for_v(monkeypatch: pytest.MonkeyPatch) -> None:
    """V's place got K."""
    right = PagedKVCache.write
    monkeypatch.setattr(
        PagedKVCache,
        "write",
        lambda self, layer, batch, key, value: right(self, layer, batch, key, key),
    )


BREAKS = [
    wrong_table_entry,
    missed_copy,
    write_into_a_shared_block,
    one_slot_unmasked,
    one_slot_missing,
    written_one_slot_late,
    wrong_kv_head,
    forgotten_scale,
    k_written_for_v,
]


def test_the_unbroken_cache_agrees_with_the_dense_reference(model):
    weights, outputs = errors(two_answers(model))
    assert weights < 1e-5
    assert outputs < 1e-5


@pytest.mark.parametrize("break_it", BREAKS, ids=lambda function: function.__name__)
def test_the_dense_reference_objects_to_a(break_it: Break, model, monkeypatch):
    break_it(monkeypatch)
    _, outputs = errors(two_answers(model))
    assert outputs > 1e-3


def test_blocks_out_of_order_mix_the_same_values_and_only_the_weights_tell(model, monkeypatch):
    """Attention has no order of its own: positions are in the keys. So weights are compared too."""
    table_out_of_order(monkeypatch)
    weights, outputs = errors(two_answers(model))
    assert weights > 1e-3
    assert outputs < 1e-5


def test_a_missed_copy_into_a_fresh_block_is_nan(model, monkeypatch):
    missed_copy(monkeypatch)
    engine = Engine(model, block_size=4, num_blocks=6)
    engine.admit("R1", "To be,")
    engine.execute("R1")
    engine.fork("R1", "R2")
    engine.select("R1")
    engine.append("R1")
    engine.execute("R1")
    in_layer_0 = engine.attention["R1"][0]  # later layers are computed from its NaN
    assert torch.isnan(in_layer_0.paged.out).all()
    assert torch.isfinite(in_layer_0.dense.out).all()


def test_a_look_up_objects_to_a_slot_written_elsewhere(model, monkeypatch):
    written_one_slot_late(monkeypatch)
    engine = Engine(model, block_size=4, num_blocks=6)
    engine.admit("B", "ROMEO:")
    engine.execute("B")
    views = look_up(engine, "B")
    assert all(not view.max_abs_error_k < 1e-3 for view in views)
    assert all(not view.max_abs_error_v < 1e-3 for view in views)


@pytest.mark.parametrize(
    ("slug", "break_it"),
    [
        ("growth", wrong_table_entry),
        ("scattered-attention", one_slot_unmasked),
        ("copy-on-write", missed_copy),
        ("freeing", written_one_slot_late),
    ],
)
def test_a_lesson_on_a_broken_cache_does_not_look_right(slug, break_it, model, monkeypatch):
    break_it(monkeypatch)
    trace = trace_to_dict(record(find_lesson(slug), Settings(), model=model))
    reported = [
        view["max_abs_error_output"]
        for frame in trace["frames"]
        for view in frame["attention"] or ()
    ]
    assert any(error is None or error > 1e-3 for error in reported)
