"""Lesson 2 at the defaults: a request's own order, and the places it lies in."""

import pytest
from lesson_reading import (
    Json,
    frame_before,
    request,
    says_that_the_order_was_set,
    slot,
    what_if_frame,
)


@pytest.fixture(scope="module")
def trace(read) -> Json:
    return read("block-table")


@pytest.fixture(scope="module")
def lookup(trace) -> list[Json]:
    """The look-ups of the last frame that has any."""
    return [frame["lookup"] for frame in trace["frames"] if frame["lookup"]][-1]


def look_up(lookup: list[Json], name: str, position: int) -> Json:
    (view,) = (v for v in lookup if (v["request"], v["position"]) == (name, position))
    return view


def test_it_is_figure_2_and_shows_its_point(trace):
    assert (trace["lesson"], trace["figure"]) == ("block-table", 2)
    assert trace["infeasible"] is None


def test_after_one_execution_b_has_7_positions_and_c_6(trace):
    for frame in trace["frames"]:
        assert [request(frame, name)["num_stored"] for name in ("B", "C")] == [7, 6]


def test_b_lies_in_p3_and_p0(trace):
    assert all(request(frame, "B")["block_table"] == [3, 0] for frame in trace["frames"])


def test_c_lies_in_p1_and_p4(trace):
    assert all(request(frame, "C")["block_table"] == [1, 4] for frame in trace["frames"])


def test_if_bs_blocks_had_to_be_neighbours_c_would_hold_the_next_one(trace):
    what_if = what_if_frame(trace)["what_if"]
    wrong = [cell for cell in what_if["cells"] if cell["wrong"]]
    assert what_if["kind"] == "neighbours"
    assert [(cell["imagined"], cell["offset"]) for cell in wrong] == [
        ("C's L0", offset) for offset in range(4)
    ]
    assert all(cell["owners"] == ["C"] for cell in wrong)
    assert all(cell["wanted_by"] == ["B"] for cell in wrong)
    assert [cell["wanted_position"] for cell in wrong] == [8, 9, 10, 11]


def test_imagined_blocks_bear_no_ids_of_the_real_ones(trace):
    cells = what_if_frame(trace)["what_if"]["cells"]
    labels = list(dict.fromkeys(cell["imagined"] for cell in cells))
    assert labels == ["B's L0", "B's L1", "C's L0"]
    assert {cell["block_id"] for cell in cells} == {None}


def test_b_could_not_grow_there_though_2_blocks_are_free_elsewhere(trace):
    frame = what_if_frame(trace)
    assert frame["state"]["totals"]["free_blocks"] == 2
    cited = {fact["path"]: fact["value"] for fact in frame["what_if"]["facts"]}
    assert cited["state.totals.free_blocks"] == 2
    assert "without moving" in frame["what_if"]["text"]


def test_the_supposition_is_never_carried_out_on_the_board(trace):
    frame = what_if_frame(trace)
    before = frame_before(trace, frame)["state"]
    assert frame["state"]["requests"] == before["requests"]
    assert frame["state"]["free_blocks"] == before["free_blocks"]
    assert frame["events"] == []


def test_position_6_of_b_is_6_over_4_equals_1_remainder_2(lookup):
    view = look_up(lookup, "B", 6)
    assert (view["logical_block"], view["offset"]) == divmod(6, 4) == (1, 2)


def test_l1_is_p0_so_position_6_is_in_slot_2_of_the_pool(trace, lookup):
    view = look_up(lookup, "B", 6)
    assert (view["block_id"], view["flat_slot"]) == (0, 2)
    cell = slot(trace["frames"][-1], 0, 2)
    assert (cell["state"], cell["owners"], cell["position"]) == ("stored", ["B"], 6)


def test_the_lesson_works_the_last_position_out_step_by_step(trace):
    cited = [{f["path"]: f["value"] for f in frame["facts"]} for frame in trace["frames"]]
    division = {"lookup[6].position": 6, "config.block_size": 4, "lookup[6].logical_block": 1}
    entry = {"lookup[6].block_id": 0, "lookup[6].flat_slot": 2, "lookup[6].offset": 2}
    (divide,) = (i for i, facts in enumerate(cited) if division.items() <= facts.items())
    (read_entry,) = (i for i, facts in enumerate(cited) if entry.items() <= facts.items())
    assert divide < read_entry


def test_k_and_v_at_every_looked_up_slot_equal_the_dense_copys(lookup):
    assert {view["max_abs_error_k"] for view in lookup} == {0.0}
    assert {view["max_abs_error_v"] for view in lookup} == {0.0}


def test_every_stored_position_can_be_looked_up(lookup):
    found = [(view["request"], view["position"]) for view in lookup]
    assert found == [("B", p) for p in range(7)] + [("C", p) for p in range(6)]


def test_indices_and_offsets_both_begin_at_0(lookup):
    view = look_up(lookup, "B", 0)
    assert (view["logical_block"], view["offset"], view["block_id"], view["flat_slot"]) == (
        0,
        0,
        3,
        12,
    )


def test_left_and_right_are_two_views_of_one_copy(trace, lookup):
    frame = trace["frames"][-1]
    stored = [
        4 * block["block_id"] + offset
        for block in frame["state"]["blocks"]
        for offset, cell in enumerate(block["slots"])
        if cell["state"] == "stored"
    ]
    assert sorted(view["flat_slot"] for view in lookup) == stored
    assert len(stored) == frame["state"]["totals"]["stored_slots"] == 13


def test_one_table_serves_every_layer_and_head(recorded, lookup):
    vectors = recorded("block-table").vectors  # [n, 2, num_layers, num_kv_heads, head_dim]
    assert vectors.shape[1:4] == (2, 3, 2)
    assert all("layer" not in view and "head" not in view for view in lookup)


def test_the_lesson_says_that_the_mixed_order_was_set(trace):
    assert says_that_the_order_was_set(trace)
