"""Lesson 4 at the defaults: one query over P3, P0 and P5."""

import math

import pytest
import torch
from lesson_reading import (
    Json,
    last_attention,
    request,
    says_that_the_order_was_set,
    slot,
    what_if_frame,
)
from torch.utils._python_dispatch import TorchDispatchMode

import kernels
from pagedkv.lessons import find_lesson
from pagedkv.recorder import record
from pagedkv.settings import Settings


@pytest.fixture(scope="module")
def trace(read) -> Json:
    return read("scattered-attention")


@pytest.fixture(scope="module")
def views(trace) -> list[Json]:
    """B's query at position 8, one view a layer."""
    return last_attention(trace["frames"][0], "B")


def test_it_is_figure_4_and_shows_its_point(trace):
    assert (trace["lesson"], trace["figure"]) == ("scattered-attention", 4)
    assert trace["infeasible"] is None


def test_bs_query_at_position_8_reads_9_positions_8_earlier_and_its_own(views):
    assert {(view["query_position"], view["context_length"]) for view in views} == {(8, 9)}
    for view in views:
        assert all(len(weights) == 9 for weights in view["paged"])
        assert all(weights[8] > 0 for weights in view["paged"])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"block_size": 1},
        {"block_size": 5, "capacity": 25},
        {"prompt_length": 8, "capacity": 64},
    ],
    ids=str,
)
def test_b_is_decoded_until_it_has_stored_in_one_more_block(read, settings):
    """Its newest position is the first of a block that it did not have beside C."""
    trace = read("scattered-attention", **settings)
    block_size, length = trace["config"]["block_size"], trace["config"]["prompt_length"]
    b = request(trace["frames"][0], "B")
    beside_c = math.ceil((length + 1) / block_size)
    assert trace["infeasible"] is None
    assert len(b["block_table"]) == beside_c + 1
    assert b["num_stored"] == beside_c * block_size + 1


def test_b_stays_where_it_is_if_no_block_is_left_for_it(read):
    trace = read("scattered-attention", capacity=16)
    b = request(trace["frames"][0], "B")
    assert (b["num_stored"], len(b["block_table"])) == (8, 2)
    assert trace["frames"][0]["check"]["fits"] is False
    assert trace["infeasible"] is not None


def test_4_are_in_p3_4_in_p0_and_1_in_p5_in_logical_order(views):
    for view in views:
        assert view["block_ids"] == [3, 3, 3, 3, 0, 0, 0, 0, 5]
        assert view["positions_per_block"] == [4, 4, 1]


def test_the_table_says_where_and_the_context_length_how_many(trace, views):
    table = request(trace["frames"][0], "B")["block_table"]
    for view in views:
        assert view["block_ids"] == [table[p // 4] for p in range(view["context_length"])]


def test_p1_and_p4_are_not_read(trace, views):
    assert all(view["skipped_blocks"] == [1, 4] for view in views)
    assert request(trace["frames"][0], "C")["block_table"] == [1, 4]


def test_the_3_empty_slots_of_p5_are_not_read(trace, views):
    assert all(view["skipped_slots"] == 3 for view in views)
    assert [slot(trace["frames"][0], 5, o)["state"] for o in range(4)] == ["stored"] + ["empty"] * 3


def test_one_softmax_runs_over_all_three_blocks_and_not_one_each(views):
    for view in views:
        for weights in view["paged"]:
            per_block = [sum(weights[:4]), sum(weights[4:8]), sum(weights[8:])]
            assert sum(per_block) == pytest.approx(1, abs=1e-5)
            assert all(0 < part < 1 for part in per_block)


def test_weights_equal_the_dense_ones(views):
    for view in views:
        assert view["max_abs_error_weights"] < 1e-5
        for paged, dense in zip(view["paged"], view["dense"], strict=True):
            assert paged == pytest.approx(dense, abs=1e-5)


def test_the_output_equals_the_dense_one_too(views):
    assert all(view["max_abs_error_output"] < 1e-5 for view in views)


def test_one_score_is_worked_out_from_q_and_k_to_its_weight(trace):
    (frame,) = (frame for frame in trace["frames"] if frame["worked_score"])
    score = frame["worked_score"]
    assert score["query_position"] == 8
    assert score["block_id"] == (3, 3, 3, 3, 0, 0, 0, 0)[score["key_position"]]
    assert score["scale"] == pytest.approx(1 / math.sqrt(32))
    assert score["score"] == pytest.approx(score["dot"] * score["scale"])
    exponential = math.exp(score["score"] - score["max_score"])
    assert score["weight"] == pytest.approx(exponential / score["denominator"])


def test_the_worked_out_weight_is_the_kernels(trace):
    (frame,) = (frame for frame in trace["frames"] if frame["worked_score"])
    score = frame["worked_score"]
    view = last_attention(frame, "B")[score["layer"]]
    assert score["kernel_weight"] == view["paged"][score["head"]][score["key_position"]]
    assert score["weight"] == pytest.approx(score["kernel_weight"], abs=1e-5)


def test_the_score_is_the_earlier_positions_that_counts_most_where_attention_is_spread(trace):
    (frame,) = (frame for frame in trace["frames"] if frame["worked_score"])
    score = frame["worked_score"]
    weights = last_attention(frame, "B")[score["layer"]]["paged"][score["head"]]
    assert score["weight"] == pytest.approx(max(weights[:8]), abs=1e-5)
    assert 0.05 < max(weights) < 0.95


def test_the_score_is_explained_as_a_question_a_key_and_a_mixture(trace):
    (frame,) = (frame for frame in trace["frames"] if frame["worked_score"])
    assert all(word in frame["caption"] for word in ("query", "key", "softmax", "V"))


class Allocations(TorchDispatchMode):
    """Watches what torch makes; ``largest`` is the most elements of one new tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        given = {t.untyped_storage().data_ptr() for t in args if isinstance(t, torch.Tensor)}
        for tensor in made if isinstance(made, tuple | list) else (made,):
            if isinstance(tensor, torch.Tensor) and (
                tensor.untyped_storage().data_ptr() not in given
            ):
                self.largest = max(self.largest, tensor.numel())
        return made


def largest_made_in_a_decode(monkeypatch, model, attend) -> list[float]:
    """Per kernel call of the lesson, its largest new tensor as a share of the context's K."""
    shares = []

    def watched(query, k_cache, v_cache, tables, context_lens, **options):
        with Allocations() as made:
            result = attend(query, k_cache, v_cache, tables, context_lens, **options)
        shares.append(made.largest / (int(context_lens.max()) * k_cache[0, 0].numel()))
        return result

    monkeypatch.setattr(kernels, "paged_attention", watched)
    record(find_lesson("scattered-attention"), Settings(), model=model)
    return shares


def test_no_gathered_copy_is_made(monkeypatch, model):
    """While the kernel runs, nothing is made that could hold the context's K or V."""
    shares = largest_made_in_a_decode(monkeypatch, model, kernels.paged_attention)
    assert len(shares) == 3 * 3  # B's positions 6, 7 and 8 in 3 layers
    assert 0 < max(shares) < 1


def test_a_gathered_copy_would_be_seen(monkeypatch, model):
    right = kernels.paged_attention

    def gathering(query, k_cache, v_cache, tables, context_lens, **options):
        k, v = (cache[tables.flatten().clamp(min=0)] for cache in (k_cache, v_cache))
        own = torch.arange(tables.numel(), dtype=torch.int32, device=tables.device)
        return right(query, k, v, own.view_as(tables), context_lens, **options)

    assert min(largest_made_in_a_decode(monkeypatch, model, gathering)) >= 1


def test_reading_9_slots_straight_on_from_p3_would_mix_in_cs_kv(trace):
    what_if = what_if_frame(trace)["what_if"]
    cells = what_if["cells"]
    assert [(c["block_id"], c["offset"]) for c in cells] == [
        *((3, offset) for offset in range(4)),
        *((4, offset) for offset in range(4)),
        (5, 0),
    ]
    wrong = [cell for cell in cells if cell["wrong"]]
    assert {cell["block_id"] for cell in wrong} == {4}
    assert all(cell["owners"] == ["C"] for cell in wrong)
    assert what_if["num_wrong"] == 4


@pytest.mark.parametrize(
    ("settings", "holds"),
    [
        ({}, {"C's KV", "slots never written"}),
        ({"block_size": 1}, {"C's KV", "other positions of B"}),
        ({"block_size": 8}, {"C's KV"}),
        (
            {"block_size": 2, "capacity": 12, "prompt_length": 2},
            {"other positions of B", "slots never written"},
        ),
    ],
    ids=lambda value: ", ".join(sorted(map(str, value))),
)
def test_the_words_name_what_the_slots_read_straight_on_hold(read, settings, holds):
    what_if = what_if_frame(read("scattered-attention", **settings))["what_if"]
    wrong = [cell for cell in what_if["cells"] if cell["wrong"]]
    stored = [cell["owners"] for cell in wrong if cell["state"] == "stored"]
    found = {
        "C's KV": ["C"] in stored,
        "other positions of B": ["B"] in stored,
        "slots never written": len(stored) < len(wrong),
    }
    assert {words for words, is_held in found.items() if is_held} == holds
    assert {words for words in found if words in what_if["text"]} == holds


def test_the_lesson_says_that_the_mixed_order_was_set(trace):
    assert says_that_the_order_was_set(trace)
