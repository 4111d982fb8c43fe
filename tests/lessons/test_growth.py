"""Lesson 3 at the defaults: B grows from 7 to 9 positions and takes one block on the way."""

from itertools import pairwise

import pytest
from lesson_reading import (
    Json,
    checks,
    event_of,
    events,
    frame_before,
    frame_with,
    request,
    says_that_the_order_was_set,
    slot,
    words,
)


@pytest.fixture(scope="module")
def trace(read) -> Json:
    return read("growth")


def test_it_is_figure_3_and_shows_its_point(trace):
    assert (trace["lesson"], trace["figure"]) == ("growth", 3)
    assert trace["infeasible"] is None


def test_counts_of_7_8_and_9_are_after_input_processing(trace):
    counts = [request(frame, "B")["num_stored"] for frame in trace["frames"]]
    assert list(dict.fromkeys(counts)) == [7, 8, 9]
    for before, frame in pairwise(trace["frames"]):
        grew = request(frame, "B")["num_stored"] - request(before, "B")["num_stored"]
        assert grew == len(events(frame, "SlotsWritten", request="B"))


def test_from_7_to_8_the_check_finds_one_empty_slot_and_needs_no_block(trace):
    check = checks(trace, "B")[0]["check"]
    assert (check["position"], check["empty_in_last_block"]) == (7, 1)
    assert (check["needed"], check["fits"]) == (0, True)


def test_from_7_to_8_the_last_empty_slot_of_p0_is_written_and_the_table_stays(trace):
    frame = frame_with(trace, "SlotsWritten", positions=[7])
    (written,) = events(frame, "SlotsWritten")
    assert written["slots"] == [3]
    assert request(frame, "B")["block_table"] == [3, 0]
    assert request(frame, "B")["num_stored"] == 8
    assert not events(frame, "BlockAllocated") and not events(frame, "TableChanged")


def test_from_8_to_9_both_blocks_are_full_and_a_free_one_is_asked_for(trace):
    frame = checks(trace, "B")[1]
    check = frame["check"]
    assert (check["position"], check["empty_in_last_block"]) == (8, 0)
    assert (check["needed"], check["free"], check["fits"]) == (1, 2, True)
    assert all(slot(frame, b, o)["state"] == "stored" for b in (3, 0) for o in range(4))
    assert frame["state"]["free_blocks"][0] == 5


def test_p5_is_given_and_becomes_l2(trace):
    frame = frame_with(trace, "BlockAllocated", request="B", block_id=5)
    (changed,) = events(frame, "TableChanged")
    assert (changed["logical_block"], changed["before"], changed["block_id"]) == (2, None, 5)
    assert request(frame, "B")["block_table"] == [3, 0, 5]


def test_position_8_goes_into_the_first_slot_of_p5(trace):
    written = event_of(trace, "SlotsWritten", positions=[8])
    assert written["slots"] == [20]
    assert slot(frame_with(trace, "SlotsWritten", positions=[8]), 5, 0)["state"] == "stored"


def test_allocating_and_storing_are_two_frames(trace):
    frame = frame_with(trace, "BlockAllocated", request="B", block_id=5)
    assert (request(frame, "B")["num_tokens"], request(frame, "B")["num_stored"]) == (9, 8)
    assert [slot(frame, 5, offset)["state"] for offset in range(4)] == ["empty"] * 4


def test_the_order_is_check_allocate_table_write_attend_select(trace):
    start = checks(trace, "B")[1]["index"]
    assert trace["frames"][start]["events"] == []
    kinds = [e["type"] for frame in trace["frames"][start:] for e in frame["events"]]
    assert kinds == [
        "BlockAllocated",
        "TableChanged",
        "SlotsWritten",
        "AttentionComputed",
        "TokenSelected",
    ]


def test_in_each_layer_the_query_finds_its_own_position_written(trace):
    frame = frame_with(trace, "SlotsWritten", positions=[8])
    assert [view["layer"] for view in frame["attention"]] == [0, 1, 2]
    for view in frame["attention"]:
        assert (view["query_position"], view["context_length"]) == (8, 9)
        assert view["block_ids"][8] == 5
        assert view["max_abs_error_weights"] < 1e-5


def test_the_selected_output_is_pending_without_slot_or_kv(trace):
    next_input = request(trace["frames"][-1], "B")["tokens"][8]
    frame = next(
        frame
        for frame in trace["frames"]
        if request(frame, "B")["num_stored"] == 8 and request(frame, "B")["pending_token"]
    )
    b = request(frame, "B")
    assert (b["pending_token"], b["num_tokens"], b["num_stored"]) == (next_input, 8, 8)
    held = [cell for block in frame["state"]["blocks"] for cell in block["slots"]]
    assert not [cell for cell in held if cell["owners"] == ["B"] and cell["position"] == 8]


def test_the_pending_output_gets_its_kv_as_the_next_input(trace):
    frame = frame_with(trace, "SlotsWritten", positions=[8])
    selected = [request(f, "B")["pending_token"] for f in trace["frames"] if f is not frame]
    assert request(frame, "B")["tokens"][8] in selected
    assert request(frame, "B")["pending_token"] is None
    assert slot(frame, 5, 0)["token"] == request(frame, "B")["tokens"][8]


def test_c_is_held_at_6_positions_and_the_lesson_says_that_a_real_engine_would_decode_it(trace):
    assert {request(frame, "C")["num_stored"] for frame in trace["frames"]} == {6}
    assert "real engine would decode it too" in words(trace)


def test_c_keeps_p1_and_p4(trace):
    assert all(request(frame, "C")["block_table"] == [1, 4] for frame in trace["frames"])


def test_nothing_that_is_stored_is_moved(recorded):
    frames = recorded("growth").frames
    for before, frame in pairwise(frames):
        for old, new in zip(before.vector_ids, frame.vector_ids, strict=True):
            kept = [(a, b) for a, b in zip(old, new, strict=True) if a is not None]
            assert all(a == b for a, b in kept)
        b_before, b_now = before.state.requests[0], frame.state.requests[0]
        assert b_now.block_table[: len(b_before.block_table)] == b_before.block_table


def test_only_one_slot_and_one_block_are_new_besides_those_the_lesson_began_with(trace):
    assert not [e for f in trace["frames"] for e in events(f, "BlockCopied")]
    begun = trace["frames"][0]["state"]["totals"]
    ended = trace["frames"][-1]["state"]["totals"]
    assert ended["blocks_in_use"] - begun["blocks_in_use"] == 1
    assert ended["stored_slots"] - begun["stored_slots"] == 2


def test_b_decodes_until_it_stored_in_one_more_block_at_any_block_size(read):
    for block_size, prompt_length in ((1, 6), (5, 6), (4, 8)):
        trace = read("growth", block_size=block_size, prompt_length=prompt_length, capacity=64)
        first, last = (request(trace["frames"][i], "B") for i in (0, -1))
        assert len(last["block_table"]) == len(first["block_table"]) + 1
        assert last["num_stored"] % block_size == 1 % block_size


def test_with_4_blocks_b_cannot_grow_and_the_last_frame_says_why(read):
    trace = read("growth", capacity=16)
    frame = trace["frames"][-1]
    (refusal,) = events(frame, "RequestRefused")
    assert (refusal["request"], refusal["needed"], refusal["free"]) == ("B", 1, 0)
    assert request(frame, "B") == request(frame_before(trace, frame), "B")
    assert "0 are free" in frame["caption"]
    assert trace["infeasible"].endswith("Capacity 20, prompt length 4 or block size 2 would do.")


def test_the_lesson_says_that_the_mixed_order_was_set(trace):
    assert says_that_the_order_was_set(trace)
