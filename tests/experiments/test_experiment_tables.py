"""Which weights go wrong and by how much, position by position."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pagedkv.experiments import FAULTS, find_fault, run_block_sizes, run_fault, run_shuffle
from pagedkv.experiments.tables import shuffle_table, sizes_table, tokens, weight_table


@pytest.fixture(scope="module")
def too_long(scene_of):
    return run_fault(scene_of(4), find_fault("one-too-long"))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.slug)
def test_every_head_has_right_faulty_and_their_difference(fault, scene_of):
    result = run_fault(scene_of(4), fault)
    table = weight_table(result)
    names = [
        f"head {head}, {what}" for head in range(4) for what in ("right", "faulty", "difference")
    ]
    assert list(table) == ["position", "token", "K or V misread", *names]
    assert {len(column) for column in table.values()} == {result.right_weights.shape[1]}
    for head in range(4):
        right, faulty, difference = (
            np.array(table[name]) for name in names[3 * head : 3 * head + 3]
        )
        assert (right == result.right_weights[head]).all()
        assert (faulty == result.faulty_weights[head]).all()
        assert difference == pytest.approx(faulty - right)
    largest = max(abs(d) for name in names if "difference" in name for d in table[name])
    assert largest == pytest.approx(result.weight_difference)


def test_white_space_is_visible_and_a_position_too_many_has_no_token(too_long):
    table = weight_table(too_long)
    assert table["position"] == list(range(14))
    assert table["token"] == [*"ROMEO:↵What␣s", ""]
    assert tokens(too_long) == (*"ROMEO:\nWhat s", "")


def test_it_is_told_which_heads_misread_a_position(too_long, scene_of):
    assert weight_table(too_long)["K or V misread"] == [*[""] * 13, "all heads"]
    swapped = run_fault(scene_of(4), find_fault("wrong-kv-head"))
    assert weight_table(swapped)["K or V misread"] == ["head 1, 2"] * 13


def test_a_difference_to_nan_is_nan(too_long):
    spoilt = too_long.faulty_weights.copy()
    spoilt[2, 5] = math.nan
    table = weight_table(replace(too_long, faulty_weights=spoilt))
    assert math.isnan(table["head 2, difference"][5])
    assert math.isnan(table["head 2, faulty"][5])
    assert not any(map(math.isnan, table["head 1, difference"]))


def test_tables_before_and_after_stand_side_by_side(scene_of):
    result = run_shuffle(scene_of(4))
    table = shuffle_table(result)
    assert table["request"] == ["B", "C", "B2"]
    assert table["table before"] == [str(list(t)) for _, t in result.old_tables]
    assert table["table after"] == [str(list(t)) for _, t in result.new_tables]


def test_sizes_have_a_row_each(model):
    table = sizes_table(run_block_sizes((4, 32), model=model))
    assert table["block size"] == [4, 32]
    assert table["blocks"] == [6, 1]
    assert table["to the first size"][0] == "0"
    assert {len(column) for column in table.values()} == {2}
