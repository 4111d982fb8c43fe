"""No caption calls equal what was measured to differ: the words go by the errors in the frame."""

from dataclasses import replace

import pytest

from pagedkv.cache import PagedKVCache
from pagedkv.lessons import find_lesson
from pagedkv.recorder import record
from pagedkv.settings import Settings


def with_batch(monkeypatch: pytest.MonkeyPatch, method: str, change) -> None:
    right = getattr(PagedKVCache, method)
    monkeypatch.setattr(
        PagedKVCache,
        method,
        lambda self, layer, batch, *tensors: right(self, layer, change(batch), *tensors),
    )


def other_blocks(batch):
    """Every table entry leads to the next block."""
    tables = batch.block_tables
    return replace(batch, block_tables=(tables + 1).where(tables >= 0, tables) % 6)


def one_slot_late(batch):
    """K and V go to the slot behind their own."""
    return replace(batch, slot_mapping=(batch.slot_mapping + 1) % 24)


def test_weights_and_output_that_differ_from_the_dense_ones_are_not_called_equal(
    monkeypatch, model
):
    with_batch(monkeypatch, "attend", other_blocks)
    frames = record(find_lesson("scattered-attention"), Settings(), model=model).frames
    assert not any(view.max_abs_error_weights < 0.01 for view in frames[-1].attention)
    assert not [f.caption for f in frames if " equal" in f.caption or "sum to one" in f.caption]
    assert len([f for f in frames if "has a fault" in f.caption]) == 2


def test_k_and_v_that_differ_from_the_dense_copys_are_not_called_right(monkeypatch, model):
    with_batch(monkeypatch, "write", one_slot_late)
    frames = record(find_lesson("block-table"), Settings(), model=model).frames
    assert not any(view.max_abs_error_k < 0.01 for view in frames[-1].lookup)
    assert not [
        f.caption for f in frames if " equal" in f.caption or ": all 13 look-ups" in f.caption
    ]
    assert len([f for f in frames if "has a fault" in f.caption]) == 2


@pytest.mark.parametrize("slug", ["scattered-attention", "block-table"])
def test_an_engine_without_a_fault_is_not_accused(slug, read):
    captions = [frame["caption"] for frame in read(slug)["frames"]]
    assert any(" equal" in caption for caption in captions)
    assert not [caption for caption in captions if "fault" in caption]
