"""Lesson 7 at the defaults: two responses end, and a new request moves in."""

import pytest
from lesson_reading import (
    Json,
    checks,
    event_of,
    events,
    frame_with,
    names,
    ref_counts,
    slot,
    words,
)
from lesson_reading import request as request_of


@pytest.fixture(scope="module")
def trace(read) -> Json:
    return read("freeing")


@pytest.fixture(scope="module")
def first_ended(trace) -> Json:
    return frame_with(trace, "RequestFinished", request="R1")


@pytest.fixture(scope="module")
def second_ended(trace) -> Json:
    return frame_with(trace, "RequestFinished", request="R2")


def test_it_has_no_figure_and_shows_its_point(trace):
    assert (trace["lesson"], trace["figure"]) == ("freeing", None)
    assert trace["infeasible"] is None


def test_it_begins_where_copy_on_write_ended(trace):
    frame = trace["frames"][0]
    assert [r["block_table"] for r in frame["state"]["requests"]] == [[0, 2], [0, 1]]
    assert ref_counts(frame) == [2, 1, 1, 0, 0, 0]


def test_when_r1_ends_its_private_block_returns(first_ended):
    assert [event["block_id"] for event in events(first_ended, "BlockFreed")] == [2]
    assert first_ended["state"]["free_blocks"][0] == 2


def test_when_r1_ends_p0s_ref_count_goes_from_2_to_1(first_ended):
    (changed,) = events(first_ended, "RefCountChanged", block_id=0)
    assert (changed["before"], changed["after"]) == (2, 1)


def test_when_r1_ends_p0_and_p1_stay_for_r2(first_ended):
    assert names(first_ended) == ["R2"]
    assert request_of(first_ended, "R2")["block_table"] == [0, 1]
    assert ref_counts(first_ended) == [1, 1, 0, 0, 0, 0]


def test_when_r2_ends_all_6_blocks_are_free(second_ended):
    assert second_ended["state"]["totals"]["free_blocks"] == 6
    assert sorted(second_ended["state"]["free_blocks"]) == [0, 1, 2, 3, 4, 5]
    assert ref_counts(second_ended) == [0] * 6


def test_the_most_recently_freed_block_is_given_first(second_ended):
    assert second_ended["state"]["free_blocks"] == [0, 1, 2, 3, 4, 5]
    freed = [event["block_id"] for event in events(second_ended, "BlockFreed")]
    assert freed == [1, 0]


def test_nothing_is_kept_for_anyone_after_completion(second_ended):
    assert names(second_ended) == []
    totals = second_ended["state"]["totals"]
    assert (totals["stored_slots"], totals["allocated_slots"]) == (0, 0)
    assert "nothing is kept" in second_ended["caption"].lower()


def test_nothing_is_erased_either(second_ended):
    old = [slot(second_ended, 1, offset) for offset in range(4)]
    assert [cell["state"] for cell in old] == ["stale", "stale", "stale", "free"]
    assert [cell["position"] for cell in old] == [4, 5, 6, None]
    assert all(cell["owners"] == [] for cell in old)


def test_the_old_bytes_are_the_very_same_vectors(recorded):
    start, first, second, *_ = recorded("freeing").frames
    assert start.vector_ids == first.vector_ids == second.vector_ids


def test_d_gets_blocks_that_were_returned(trace):
    given = [e["block_id"] for f in trace["frames"] for e in events(f, "BlockAllocated")]
    assert given[-2:] == [0, 1]
    assert request_of(trace["frames"][-1], "D")["block_table"] == [0, 1]


def test_ds_check_wants_2_of_6_free_blocks(trace):
    (frame,) = checks(trace, "D")
    assert (frame["check"]["needed"], frame["check"]["free"]) == (2, 6)


def test_the_old_bytes_in_ds_blocks_are_not_ds(recorded, trace):
    frame = frame_with(trace, "RequestAdmitted", request="D")
    cells = [slot(frame, block_id, offset) for block_id in (0, 1) for offset in range(4)]
    assert {cell["state"] for cell in cells} == {"empty"}
    ids = recorded("freeing").frames[frame["index"]].vector_ids
    assert None not in ids[0]  # bytes are there all the same


def test_d_overwrites_the_old_kv(recorded, trace):
    frames = recorded("freeing").frames
    frame = frame_with(trace, "SlotsWritten", request="D")
    old, new = frames[frame["index"] - 1].vector_ids, frames[frame["index"]].vector_ids
    assert all(a != b for a, b in zip(old[0], new[0], strict=True))
    assert [a != b for a, b in zip(old[1], new[1], strict=True)] == [True, True, False, False]
    assert event_of(trace, "SlotsWritten", request="D")["slots"] == [0, 1, 2, 3, 4, 5]


def test_ds_attention_is_right_in_reused_blocks(trace):
    frame = frame_with(trace, "SlotsWritten", request="D")
    assert len(frame["attention"]) == 6 * 3
    assert all(view["max_abs_error_output"] < 1e-5 for view in frame["attention"])


def test_other_old_bytes_remain_as_stale(trace):
    cells = [slot(trace["frames"][-1], 2, offset) for offset in range(4)]
    assert [cell["state"] for cell in cells] == ["stale", "stale", "stale", "free"]


@pytest.mark.parametrize(
    ("settings", "outside", "past_its_context"),
    [
        ({}, True, True),
        ({"prompt_length": 8}, True, False),
        ({"block_size": 1}, True, False),
        ({"capacity": 12}, True, True),
        ({"block_size": 32, "capacity": 64}, True, True),
        ({"capacity": 8}, False, False),
        ({"capacity": 8, "prompt_length": 8}, False, False),
    ],
    ids=str,
)
def test_old_bytes_are_said_to_remain_where_they_do(recorded, settings, outside, past_its_context):
    frame = next(
        frame
        for frame in recorded("freeing", **settings).frames
        if frame.title == "Old KV is overwritten"
    )
    (d,) = frame.state.requests
    apart = set(range(len(frame.state.blocks))) - set(d.block_table)
    last = frame.vector_ids[d.block_table[-1]]
    stored_in_last = d.num_stored - (len(d.block_table) - 1) * len(last)
    assert any(any(frame.vector_ids[block_id]) for block_id in apart) == outside
    assert any(last[stored_in_last:]) == past_its_context
    assert ("old bytes remain" in frame.caption) == outside
    assert ("past its context length" in frame.caption) == past_its_context
    assert ("no table leads there" in frame.caption) == (outside and not past_its_context)
    assert ("nothing of it is left" in frame.caption) == (not outside and not past_its_context)


def test_two_savings_are_told_apart(trace):
    caption = trace["frames"][-1]["caption"]
    assert "reservation" in caption and "sharing" in caption


def test_the_savings_let_more_requests_be_considered(trace):
    frame = trace["frames"][-1]
    assert {"value": 4, "path": "state.totals.free_blocks"} in frame["facts"]
    assert "more requests" in frame["caption"]


def test_the_lesson_says_that_blocks_can_still_run_out(trace):
    assert "run out" in words(trace)


def test_no_caption_offers_room_for_more_requests_where_no_block_is_free(read):
    trace = read("freeing", capacity=8)
    frame = trace["frames"][-1]
    assert frame["state"]["totals"]["free_blocks"] == 0
    assert "can consider more requests" not in frame["caption"]
