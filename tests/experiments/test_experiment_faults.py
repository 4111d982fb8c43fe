"""Every fault is objected to where it can do anything, and says so where it cannot."""

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from pagedkv.experiments import FAULTS, find_fault, run_fault
from pagedkv.experiments.faults import as_it_should_be
from pagedkv.experiments.poison import poisoned
from pagedkv.experiments.reports import Relation
from pagedkv.trace.errors import DENSE_TOLERANCE

BLOCK_SIZES = [1, 3, 4, 8, 16]

# Where a fault can do nothing, by block size.
IDLE = {
    (1, "one-too-long"): "fill its last block",
    (1, "copy-missed"): "Nothing was to be copied",
    (16, "full-block-counted-as-empty"): "none of B's decoded positions fills one of 16",
}


def pytest_generate_tests(metafunc):
    """All that the page offers on request; else a sample, and no test is passed over."""
    if "any_block_size" in metafunc.fixturenames:
        whole = metafunc.config.getoption("--whole-grid")
        metafunc.parametrize("any_block_size", range(1, 33) if whole else BLOCK_SIZES)


every_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.slug)


@every_fault
def test_a_fault_explains_itself_and_names_a_report(fault):
    assert fault.report.url.startswith("https://github.com/")
    repository, number = fault.report.name.split("#")
    assert repository.split()[0] in fault.report.url
    assert fault.report.url.endswith(f"/{number}")
    assert all((fault.title, fault.explanation, fault.report.says))
    assert fault.report.relation in get_args(Relation)
    assert find_fault(fault.slug) is fault


@every_fault
def test_the_sources_name_the_same_report_and_relation(fault, project):
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in (project / "docs" / "sources.md").read_text().splitlines()
        if line.startswith(f"| {fault.slug} |")
    ]
    (row,) = rows
    kind = "pull request" if "/pull/" in fault.report.url else "issue"
    name, number = fault.report.name.removesuffix(" PR").split("#")
    assert row[1].startswith(f"{name.split()[0]} {kind} {number}")
    assert row[2] == fault.report.relation


def test_there_is_no_fault_of_another_name():
    assert len({fault.slug for fault in FAULTS}) == len(FAULTS) >= 7
    with pytest.raises(KeyError, match="no fault 'none'"):
        find_fault("none")


@pytest.mark.parametrize("block_size", [3, 4])
@every_fault
def test_dense_objects_to_every_fault(fault, block_size, scene_of):
    result = run_fault(scene_of(block_size), fault)
    assert result.has_effect
    assert result.dense_objects is not result.dense_agrees
    assert result.dense_objects
    assert not result.weight_difference < 1e-3
    assert not result.output_difference < 1e-3
    assert result.wrong_positions
    assert result.wrong_heads


@pytest.mark.parametrize("layer", [1, 2])
@every_fault
def test_dense_objects_in_every_layer(fault, layer, scene_of):
    result = run_fault(scene_of(4, layer), fault)
    assert result.has_effect
    assert result.dense_objects


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
@every_fault
def test_a_fault_that_can_do_nothing_says_why(fault, block_size, scene_of):
    result = run_fault(scene_of(block_size), fault)
    why = IDLE.get((block_size, fault.slug))
    assert result.has_effect == result.dense_objects == (why is None)
    assert bool(result.wrong_positions) == bool(result.wrong_heads) == (why is None)
    assert (why or "") in result.account
    assert result.account.endswith(".")


@every_fault
def test_dense_objects_exactly_where_something_was_misread(fault, any_block_size, scene_of):
    result = run_fault(scene_of(any_block_size), fault)
    assert result.has_effect == result.dense_objects
    difference = max(result.weight_difference, result.output_difference)
    assert result.dense_objects == (not difference <= DENSE_TOLERANCE)


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_without_a_fault_dense_has_nothing_to_object_to(block_size, scene_of):
    control = replace(FAULTS[0], apply=lambda scene: as_it_should_be(scene, "Nothing is wrong."))
    result = run_fault(scene_of(block_size), control)
    assert not result.has_effect
    assert not result.dense_objects
    assert result.weight_difference <= DENSE_TOLERANCE
    assert result.output_difference <= DENSE_TOLERANCE
    assert (result.wrong_positions, result.wrong_heads) == ((), ())
    assert result.faulty_table == result.right_table


def test_nan_is_objected_to(scene_of):
    """Old bytes are NaN where nothing was ever written."""

    def apply(scene):
        read = as_it_should_be(scene, "Never written bytes were read.")
        too_long = scene.context_len + 1
        return replace(read, pools=poisoned(scene, math.nan), context_len=too_long)

    result = run_fault(scene_of(4), replace(FAULTS[0], apply=apply))
    assert math.isnan(result.output_difference)
    assert result.dense_objects
    assert result.wrong_positions == (13,)


@every_fault
def test_weights_stand_side_by_side(fault, scene_of):
    result = run_fault(scene_of(4), fault)
    assert result.right_weights.shape == result.faulty_weights.shape
    assert result.right_weights.shape[1] == max(result.right_context_len, result.faulty_context_len)
    assert np.allclose(result.right_weights.sum(axis=1), 1)
    assert np.allclose(result.faulty_weights.sum(axis=1), 1, atol=1e-5)
    difference = np.abs(result.right_weights - result.faulty_weights).max()
    assert result.weight_difference == pytest.approx(difference, abs=1e-6)
    assert not result.right_weights.flags.writeable


def test_a_length_too_short_leaves_the_query_out(scene_of):
    result = run_fault(scene_of(4), find_fault("one-too-short"))
    assert result.wrong_positions == (12,)
    assert (result.faulty_weights[:, 12] == 0).all()


def test_a_length_too_long_lets_one_stranger_in(scene_of):
    result = run_fault(scene_of(4), find_fault("one-too-long"))
    assert result.wrong_positions == (13,)
    assert (result.faulty_weights[:, 13] > 0).all()


def test_a_full_last_block_leaves_no_room_for_a_longer_context(scene_of):
    scene = scene_of(1)
    with pytest.raises(ValueError, match=r"context_lens\[0\] is 14"):
        scene.attend(context_len=14)


def test_query_heads_1_and_2_are_those_with_the_wrong_kv_head(scene_of):
    result = run_fault(scene_of(4), find_fault("wrong-kv-head"))
    assert result.wrong_heads == (1, 2)
    assert result.misread[[1, 2]].all() and not result.misread[[0, 3]].any()
    unharmed = result.right_weights[[0, 3]] - result.faulty_weights[[0, 3]]
    assert np.abs(unharmed).max() <= DENSE_TOLERANCE
    harmed = result.right_weights[[1, 2]] - result.faulty_weights[[1, 2]]
    assert (np.abs(harmed).max(axis=1) > 100 * DENSE_TOLERANCE).all()


@pytest.mark.parametrize(("block_size", "lost"), [(3, (8, 11)), (4, (7, 11)), (8, (7,))])
def test_the_remainder_loses_the_positions_that_fill_a_block(block_size, lost, scene_of):
    """MinivLLM 76: the eighth token of a table [10, 11] went to slot 43 instead of 47."""
    scene = scene_of(block_size)
    result = run_fault(scene, find_fault("full-block-counted-as-empty"))
    assert set(lost) <= set(result.wrong_positions)
    for position in lost:
        own = scene.engine.cache.locate("B", position).flat_slot
        assert f"position {position} to slot {own - block_size} instead of {own}" in result.account


@pytest.mark.parametrize("block_size", [3, 4, 8])
def test_a_missed_copy_loses_what_was_written_into_the_shared_block(block_size, scene_of):
    result = run_fault(scene_of(block_size), find_fault("copy-missed"))
    assert result.wrong_positions == (7,)
    changed = [
        (own, faulty)
        for own, faulty in zip(result.right_table, result.faulty_table, strict=True)
        if own != faulty
    ]
    assert len(changed) == 1


@pytest.mark.parametrize(
    ("block_size", "positions"),
    [
        (3, "positions 7 and 8"),
        (4, "position 7"),
        (5, "positions 7 to 9"),
        (6, "positions 7 to 11"),
        (8, "position 7"),
        (16, "positions 7 to 12"),
        (32, "positions 7 to 12"),
    ],
)
def test_a_missed_copy_tells_which_positions_were_written_twice(block_size, positions, scene_of):
    """As far as the shared block reaches, or as both have got."""
    account = run_fault(scene_of(block_size), find_fault("copy-missed")).account
    assert f"both wrote {positions} into P" in account


def test_a_stale_entry_is_the_last_one_only(scene_of):
    result = run_fault(scene_of(4), find_fault("stale-entry"))
    assert result.faulty_table[:-1] == result.right_table[:-1]
    assert result.faulty_table[-1] != result.right_table[-1]
    assert result.wrong_positions == (12,)
