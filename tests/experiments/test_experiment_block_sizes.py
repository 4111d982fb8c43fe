"""The same context in blocks of several sizes: other tables, the same answer."""

import math
from dataclasses import replace

import pytest

from pagedkv.experiments import BlockSizesResult, block_sizes, run_block_sizes
from pagedkv.experiments.scene import attend
from pagedkv.settings import SettingsError
from pagedkv.trace.errors import DENSE_TOLERANCE


@pytest.fixture(scope="module")
def result(model) -> BlockSizesResult:
    return run_block_sizes(model=model)


def test_the_answer_is_the_dense_one_and_that_of_the_first_size(result):
    assert [size.block_size for size in result.sizes] == [1, 2, 4, 8, 16]
    assert result.sizes[0].difference_to_first == 0
    assert result.dense_agrees
    for size in result.sizes:
        assert size.difference_to_dense <= DENSE_TOLERANCE
        assert size.difference_to_first <= DENSE_TOLERANCE
        assert abs(size.weights.sum(axis=1) - 1).max() <= DENSE_TOLERANCE


def test_the_worst_size_decides(result):
    bad = replace(result.sizes[2], difference_to_dense=0.5, difference_to_first=math.nan)
    spoilt = replace(result, sizes=(*result.sizes[:2], bad, *result.sizes[3:]))
    assert spoilt.difference_to_dense == 0.5
    assert math.isnan(spoilt.difference_to_first)
    assert not spoilt.dense_agrees


def test_tables_in_another_order_would_be_seen(model, monkeypatch):
    """With one block there is no other order, so only the last size goes on agreeing."""

    def attend_backwards(query, pools, table, context_len):
        return attend(query, pools, table[::-1], context_len)

    monkeypatch.setattr(block_sizes, "attend", attend_backwards)
    result = run_block_sizes((4, 8, 32), model=model)
    agree = [size.difference_to_dense <= DENSE_TOLERANCE for size in result.sizes]
    assert agree == [False, False, True]
    assert not result.dense_agrees
    assert not result.difference_to_first <= DENSE_TOLERANCE


def test_a_size_decides_how_many_blocks_there_are(result):
    assert [size.num_blocks for size in result.sizes] == [21, 11, 6, 3, 2]
    assert [size.num_unused for size in result.sizes] == [0, 1, 3, 3, 11]
    assert all(len(size.table) == size.num_blocks for size in result.sizes)
    assert all(size.weights.shape[1] == len(result.text) for size in result.sizes)


def test_sizes_that_are_no_powers_of_two_will_do(model):
    result = run_block_sizes((3, 32), layer=2, model=model)
    assert [size.num_blocks for size in result.sizes] == [7, 1]
    assert all(size.difference_to_dense <= DENSE_TOLERANCE for size in result.sizes)


def test_sizes_and_layers_that_do_not_exist_are_refused(model):
    with pytest.raises(ValueError, match="at least one block size"):
        run_block_sizes((), model=model)
    with pytest.raises(SettingsError, match="block_size is 33"):
        run_block_sizes((4, 33), model=model)
    with pytest.raises(ValueError, match="layer is -1"):
        run_block_sizes((4,), layer=-1, model=model)
