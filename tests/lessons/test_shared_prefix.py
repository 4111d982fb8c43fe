"""Lesson 5 at the defaults: a prompt of 6 for two responses, copied and then shared."""

import pytest
from lesson_reading import (
    Json,
    event_of,
    events,
    frame_with,
    names,
    ref_counts,
    request,
    slot,
    words,
)


@pytest.fixture(scope="module")
def trace(read) -> Json:
    return read("shared-prefix")


@pytest.fixture(scope="module")
def shared(trace) -> Json:
    return frame_with(trace, "RequestForked")


@pytest.fixture(scope="module")
def comparison(trace) -> Json:
    (frame,) = (frame for frame in trace["frames"] if frame["comparison"])
    return frame["comparison"]


def test_it_is_figure_5_and_shows_its_point(trace):
    assert (trace["lesson"], trace["figure"]) == ("shared-prefix", 5)
    assert trace["infeasible"] is None


def test_copied_two_responses_take_4_blocks(trace):
    state = trace["frames"][0]["state"]
    assert [r["block_table"] for r in state["requests"]] == [[0, 1], [2, 3]]
    assert state["totals"]["blocks_in_use"] == state["totals"]["table_entries"] == 4


def test_the_two_copies_hold_the_same_kv(recorded):
    ids = recorded("shared-prefix").frames[0].vector_ids
    assert ids[0] == ids[2] and ids[1] == ids[3]
    assert None not in ids[0] and ids[1][2:] == (None, None)


def test_the_shared_half_has_a_pool_of_its_own(trace):
    fresh = trace["frames"][1]
    assert names(fresh) == ["R1"]
    assert fresh["state"]["free_blocks"] == [2, 3, 4, 5]
    assert {slot(fresh, b, o)["state"] for b in (2, 3) for o in range(4)} == {"free"}


def test_shared_both_tables_map_l0_to_p0_and_l1_to_p1(shared):
    assert [request(shared, name)["block_table"] for name in ("R1", "R2")] == [[0, 1], [0, 1]]


def test_shared_both_blocks_have_ref_count_2(shared):
    assert ref_counts(shared) == [2, 2, 0, 0, 0, 0]
    assert slot(shared, 1, 1)["owners"] == ["R1", "R2"]


def test_shared_4_table_entries_point_to_2_blocks(shared):
    totals = shared["state"]["totals"]
    assert (totals["table_entries"], totals["blocks_in_use"]) == (4, 2)


def test_p0_holds_positions_0_to_3_and_p1_positions_4_and_5(shared):
    assert [slot(shared, 0, o)["position"] for o in range(4)] == [0, 1, 2, 3]
    states = [(slot(shared, 1, o)["position"], slot(shared, 1, o)["state"]) for o in range(4)]
    assert states == [(4, "stored"), (5, "stored"), (6, "empty"), (7, "empty")]


def test_sharing_computes_nothing_copies_nothing_and_takes_no_block(shared):
    kinds = {event["type"] for event in shared["events"]}
    assert kinds == {"RequestForked", "RefCountChanged"}


def test_each_response_goes_on_with_an_output_of_its_own(trace):
    frame = frame_with(trace, "TokenSelected", request="R2", rank=1)
    pending = [request(frame, name)["pending_token"] for name in ("R1", "R2")]
    assert None not in pending and pending[0] != pending[1]


def test_the_lesson_says_that_each_brings_its_own_query_over_its_own_context(trace):
    assert "own query" in words(trace) and "own context" in words(trace)


def test_two_prompts_with_different_beginnings_have_the_same_character_at_one_position(comparison):
    one, other = comparison["prompts"]
    assert comparison["position"] == 5
    assert one[0] != other[0]
    assert one[5] == other[5] == comparison["token"]


def test_in_layer_0_their_k_and_v_are_equal(comparison):
    assert comparison["layers"][0] == {"layer": 0, "max_abs_k": 0.0, "max_abs_v": 0.0}


def test_from_layer_1_on_their_k_and_v_differ(comparison):
    assert [layer["layer"] for layer in comparison["layers"]] == [0, 1, 2]
    for layer in comparison["layers"][1:]:
        assert layer["max_abs_k"] > 0.01 and layer["max_abs_v"] > 0.01


def test_the_lesson_says_why_layer_0_is_equal(trace):
    assert "only character and position have entered" in words(trace)


def test_the_compared_prompt_never_comes_onto_the_board(trace):
    (frame,) = (frame for frame in trace["frames"] if frame["comparison"])
    assert names(frame) == ["R1", "R2"] and frame["events"] == []


def test_both_responses_start_together_from_one_prompt(trace):
    forked = event_of(trace, "RequestForked")
    assert (forked["parent"], forked["child"], forked["num_blocks"]) == ("R1", "R2", 2)
    frame = trace["frames"][-1]
    assert request(frame, "R1")["tokens"] == request(frame, "R2")["tokens"]


def test_finding_a_prefix_for_a_later_arrival_is_named_and_left_out(trace):
    caption = trace["frames"][-1]["caption"]
    assert "prefix caching" in caption and "not shown here" in caption
    assert not events(trace["frames"][-1], "RequestAdmitted")
