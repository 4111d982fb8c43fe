"""Lesson 6 at the defaults: R1 must copy before it writes, R2 need not any more."""

from dataclasses import asdict

import pytest
from lesson_reading import (
    Json,
    checks,
    event_of,
    events,
    frame_before,
    frame_with,
    last_attention,
    ref_counts,
    request,
    slot,
    what_if_frame,
    words,
)

from pagedkv.block_manager import BlockManager
from pagedkv.lessons import find_lesson


@pytest.fixture(scope="module")
def trace(read) -> Json:
    return read("copy-on-write")


@pytest.fixture(scope="module")
def full(read) -> Json:
    """What the lesson's preset shows: the prompt fills its two blocks."""
    (preset,) = find_lesson("copy-on-write").presets
    return read("copy-on-write", **asdict(preset.settings))


def test_it_is_figure_6_and_shows_its_point(trace):
    assert (trace["lesson"], trace["figure"]) == ("copy-on-write", 6)
    assert trace["infeasible"] is None


def test_at_first_both_responses_point_to_p0_and_p1_and_2_blocks_are_in_use(trace):
    frame = trace["frames"][0]
    assert [request(frame, name)["block_table"] for name in ("R1", "R2")] == [[0, 1], [0, 1]]
    assert frame["state"]["totals"]["blocks_in_use"] == 2


def test_r1_selected_a0_and_r2_a_different_b0(trace):
    frame = frame_with(trace, "TokenSelected", request="R2")
    selected = {e["request"]: (e["token"], e["rank"]) for e in events(frame, "TokenSelected")}
    assert [selected[name][1] for name in ("R1", "R2")] == [0, 1]
    assert selected["R1"][0] != selected["R2"][0]


def test_selecting_different_outputs_copies_nothing(trace):
    frame = frame_with(trace, "TokenSelected", request="R2")
    assert {event["type"] for event in frame["events"]} == {"TokenSelected"}
    assert ref_counts(frame) == ref_counts(trace["frames"][0]) == [2, 2, 0, 0, 0, 0]


def test_if_both_wrote_p1s_third_slot_one_slot_would_have_to_hold_two_kvs(trace):
    frame = what_if_frame(trace)
    (wrong,) = (cell for cell in frame["what_if"]["cells"] if cell["wrong"])
    assert (wrong["block_id"], wrong["offset"], wrong["wanted_position"]) == (1, 2, 6)
    assert wrong["wanted_by"] == ["R1", "R2"]
    pending = [request(frame, name)["pending_token"] for name in ("R1", "R2")]
    assert wrong["wanted_tokens"] == pending
    assert slot(frame, 1, 2)["state"] == "empty"


def test_r1s_check_counts_a_block_for_the_copy_although_2_slots_are_empty(trace):
    check = checks(trace, "R1")[0]["check"]
    assert (check["empty_in_last_block"], check["copies"]) == (2, 1)
    assert (check["needed"], check["free"], check["fits"]) == (1, 4, True)


def test_r1_processing_a0_copies_p1_to_p2_with_both_stored_positions(trace):
    copied = event_of(trace, "BlockCopied")
    assert (copied["request"], copied["source"], copied["destination"]) == ("R1", 1, 2)
    assert copied["positions"] == [4, 5]


def test_the_copy_has_the_same_k_and_v_in_every_layer_and_head(recorded):
    frame = next(
        f
        for f in recorded("copy-on-write").frames
        if any(type(e).__name__ == "BlockCopied" for e in f.events)
    )
    assert frame.vector_ids[2][:2] == frame.vector_ids[1][:2]
    assert None not in frame.vector_ids[2][:2]


def test_r1s_l1_becomes_p2_and_r2_still_points_to_p1(trace):
    frame = frame_with(trace, "BlockCopied")
    (changed,) = events(frame, "TableChanged")
    assert (changed["logical_block"], changed["before"], changed["block_id"]) == (1, 1, 2)
    assert [request(frame, name)["block_table"] for name in ("R1", "R2")] == [[0, 2], [0, 1]]


def test_p1s_ref_count_goes_from_2_to_1(trace):
    (changed,) = events(frame_with(trace, "BlockCopied"), "RefCountChanged")
    assert (changed["block_id"], changed["before"], changed["after"]) == (1, 2, 1)


def test_a0_goes_into_the_third_slot_of_p2(trace):
    frame = frame_with(trace, "SlotsWritten", request="R1", positions=[6])
    assert events(frame, "SlotsWritten")[0]["slots"] == [10]
    cell = slot(frame, 2, 2)
    assert (cell["state"], cell["owners"]) == ("stored", ["R1"])
    assert cell["token"] == request(frame, "R1")["tokens"][6]


def test_r2_is_sole_owner_and_needs_no_block(trace):
    (frame,) = checks(trace, "R2")
    assert (frame["check"]["needed"], frame["check"]["copies"]) == (0, 0)
    assert ref_counts(frame)[1] == 1


def test_r2_writes_b0_in_place_into_the_third_slot_of_p1_without_a_copy(trace):
    frame = frame_with(trace, "SlotsWritten", request="R2", positions=[6])
    assert {event["type"] for event in frame["events"]} == {"SlotsWritten", "AttentionComputed"}
    assert events(frame, "SlotsWritten")[0]["slots"] == [6]
    assert request(frame, "R2")["block_table"] == [0, 1]
    assert slot(frame, 1, 2)["token"] == request(frame, "R2")["tokens"][6]


def test_had_r2_gone_first_r2_would_have_copied(trace):
    manager = BlockManager(6, 4)
    manager.admit("R1", 6)
    manager.fork("R1", "R2")
    assert manager.append("R2").copies == ((1, 2),)
    assert manager.append("R1").copies == ()
    assert "had r2 gone first" in words(trace)


def test_3_blocks_are_in_use_and_p0_is_still_shared(trace):
    frame = trace["frames"][-1]
    assert frame["state"]["totals"]["blocks_in_use"] == 3
    assert ref_counts(frame) == [2, 1, 1, 0, 0, 0]


def test_without_sharing_it_would_be_4(trace):
    frame = frame_with(trace, "SlotsWritten", request="R2", positions=[6])
    assert frame["state"]["totals"]["table_entries"] == 4
    assert {"value": 4, "path": "state.totals.table_entries"} in frame["facts"]


def test_each_then_attends_over_its_own_7_positions(trace):
    frame = trace["frames"][-1]
    for name, blocks in (("R1", [0, 0, 0, 0, 2, 2, 2]), ("R2", [0, 0, 0, 0, 1, 1, 1])):
        views = last_attention(frame, name)
        assert {view["context_length"] for view in views} == {7}
        assert all(view["block_ids"] == blocks for view in views)
        assert all(view["max_abs_error_output"] < 1e-5 for view in views)


def test_each_attends_with_its_own_q(trace):
    frame = trace["frames"][-1]
    one, other = (last_attention(frame, name)[0]["paged"] for name in ("R1", "R2"))
    assert any(
        abs(a - b) > 1e-2
        for row, other_row in zip(one, other, strict=True)
        for a, b in zip(row[:6], other_row[:6], strict=True)
    )


def test_a_full_prompt_of_8_is_never_copied(full):
    assert not [e for frame in full["frames"] for e in events(frame, "BlockCopied")]


def test_with_a_full_prompt_each_takes_a_new_block(full):
    tables = [r["block_table"] for r in full["frames"][-1]["state"]["requests"]]
    assert tables == [[0, 1, 2], [0, 1, 3]]
    assert ref_counts(full["frames"][-1]) == [2, 2, 1, 1, 0, 0]


def test_with_a_full_prompt_the_reason_names_the_prompt_and_the_block(full):
    assert "8 positions" in full["infeasible"] and "4 slots" in full["infeasible"]


def test_with_no_block_free_for_the_copy_nothing_is_written_and_the_frame_says_why(read):
    trace = read("copy-on-write", capacity=8)
    frame = trace["frames"][-1]
    (refusal,) = events(frame, "RequestRefused")
    assert (refusal["request"], refusal["needed"], refusal["free"]) == ("R1", 1, 0)
    assert ref_counts(frame) == ref_counts(frame_before(trace, frame)) == [2, 2]
    assert "No block is free for the copy" in trace["infeasible"]


def test_at_block_size_1_the_reason_promises_no_copy_at_another_prompt_length(read):
    """Every prompt fills its last block there."""
    reason = read("copy-on-write", block_size=1)["infeasible"]
    assert reason.endswith("Block size 4 would do.")


@pytest.mark.parametrize(("settings", "shares"), [({}, True), ({"block_size": 8}, False)])
def test_the_end_says_whether_anything_is_still_shared(read, settings, shares):
    last = read("copy-on-write", **settings)["frames"][-1]
    ref_counts = [block["ref_count"] for block in last["state"]["blocks"]]
    assert (max(ref_counts) > 1) == shares
    assert ("What they share" in last["caption"]) == shares
    assert ("nothing is shared any more" in last["caption"]) != shares
