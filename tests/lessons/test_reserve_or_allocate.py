"""Lesson 1 at the defaults: the same 24 positions in one piece, and in blocks."""

import pytest
from lesson_reading import (
    Json,
    checks,
    event_of,
    events,
    frame_before,
    frame_with,
    names,
    request,
    says_that_the_order_was_set,
    slot,
)

from pagedkv.engine import TOKEN_BUDGET


@pytest.fixture(scope="module")
def trace(read) -> Json:
    return read("reserve-or-allocate")


def the_paged_moment(trace: Json) -> Json:
    """C was refused beside the reservation and is not yet in the blocks."""
    return frame_before(trace, checks(trace, "C")[0])


def test_it_is_figure_1_and_shows_its_point(trace):
    assert (trace["lesson"], trace["figure"]) == ("reserve-or-allocate", 1)
    assert trace["infeasible"] is None


def test_b_stores_6_and_reserves_20_of_24(trace):
    contiguous = trace["frames"][0]["contiguous"]
    (reservation,) = contiguous["reservations"]
    assert (reservation["request"], reservation["stored"], reservation["reserved"]) == ("B", 6, 20)
    assert contiguous["capacity_slots"] == 24


def test_b_reserves_14_more_than_its_prompt_at_every_prompt_length(read):
    for prompt_length in (2, 9):
        contiguous = read("reserve-or-allocate", prompt_length=prompt_length)["frames"][0][
            "contiguous"
        ]
        assert contiguous["reservations"][0]["reserved"] == prompt_length + 14


def test_4_positions_are_left_beside_bs_reservation(trace):
    assert trace["frames"][0]["contiguous"]["free_slots"] == 4


def test_c_with_6_is_refused_beside_bs_reservation_of_20(trace):
    refusal = event_of(trace, "RequestRefused")
    assert (refusal["request"], refusal["unit"]) == ("C", "slots")
    assert (refusal["needed"], refusal["free"], refusal["total"]) == (6, 4, 24)
    assert all(f["contiguous"]["refused"] == ["C"] for f in trace["frames"][1:])


def test_c_waits_from_its_refusal_until_it_is_admitted(trace):
    refused = frame_with(trace, "RequestRefused", request="C")["index"]
    admitted = frame_with(trace, "RequestAdmitted", request="C")["index"]
    waiting = [frame["state"]["waiting"] for frame in trace["frames"]]
    assert waiting[:refused] == [[]] * refused
    assert waiting[refused:admitted] == [["C"]] * (admitted - refused)
    assert waiting[admitted:] == [[]] * (len(waiting) - admitted)
    assert 0 < refused < admitted


def test_c_waits_once_where_it_is_refused_in_one_piece_and_in_blocks(read):
    trace = read("reserve-or-allocate", block_size=16)
    assert trace["frames"][-1]["state"]["waiting"] == ["C"]


def test_cs_refusal_leaves_the_reservations_as_they_were(trace):
    refused = frame_with(trace, "RequestRefused")
    before = frame_before(trace, refused)
    assert refused["contiguous"]["reservations"] == before["contiguous"]["reservations"]
    assert refused["contiguous"]["free_slots"] == before["contiguous"]["free_slots"] == 4


def test_both_halves_divide_the_same_24_positions(trace):
    frame = the_paged_moment(trace)
    assert frame["state"]["totals"]["capacity_slots"] == frame["contiguous"]["capacity_slots"] == 24
    assert trace["config"]["num_blocks"] == 6


def test_paged_at_the_same_moment_b_holds_2_blocks_8_allocated_6_stored_2_empty(trace):
    frame = the_paged_moment(trace)
    assert request(frame, "B")["block_table"] == [3, 0]
    totals = frame["state"]["totals"]
    assert (totals["allocated_slots"], totals["stored_slots"], totals["empty_slots"]) == (8, 6, 2)
    assert request(frame, "B")["num_stored"] == frame["contiguous"]["reservations"][0]["stored"]


def test_cs_check_wants_2_blocks_for_6_inputs_and_finds_4_free(trace):
    (frame,) = checks(trace, "C")
    check = frame["check"]
    assert (check["num_inputs"], check["needed"], check["free"]) == (6, 2, 4)
    assert check["fits"] is True
    assert names(frame) == ["B"]


def test_how_long_cs_answer_will_be_is_not_asked(trace):
    (frame,) = checks(trace, "C")
    asked = set(frame["check"])
    assert asked == {
        "request",
        "num_inputs",
        "position",
        "logical_block",
        "offset",
        "copies",
        "empty_in_last_block",
        "needed",
        "free",
        "fits",
    }
    assert "not asked" in frame["caption"]


def test_admitted_c_has_2_blocks_and_nothing_stored(trace):
    frame = frame_with(trace, "RequestAdmitted", request="C")
    c = request(frame, "C")
    assert c["block_table"] == [1, 4]
    assert (c["num_tokens"], c["num_stored"]) == (6, 0)
    assert not events(frame, "SlotsWritten")


def test_cs_slots_are_allocated_and_empty_before_its_input_passed_through_the_model(trace):
    frame = frame_with(trace, "RequestAdmitted", request="C")
    cells = [slot(frame, block_id, offset) for block_id in (1, 4) for offset in range(4)]
    assert [cell["state"] for cell in cells] == ["empty"] * 8
    assert [cell["position"] for cell in cells] == list(range(8))
    assert all(cell["owners"] == ["C"] for cell in cells)


def test_with_c_admitted_16_are_allocated_and_8_free(trace):
    totals = frame_with(trace, "RequestAdmitted", request="C")["state"]["totals"]
    assert (totals["allocated_slots"], totals["free_slots"]) == (16, 8)
    assert totals["stored_slots"] == 6


def test_bs_next_input_fits_its_second_block(trace):
    (frame,) = checks(trace, "B")
    check = frame["check"]
    assert (check["num_inputs"], check["position"]) == (1, 6)
    assert (check["logical_block"], check["offset"], check["empty_in_last_block"]) == (1, 2, 2)
    assert (check["needed"], check["fits"]) == (0, True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "fits there and needs no further block"),
        ({"prompt_length": 8}, "needs 1 more block, and 2 are free: P5 is next"),
        ({"prompt_length": 8, "capacity": 16}, "and 0 are free. B keeps what it has and waits"),
    ],
)
def test_bs_check_says_whether_it_needs_a_block_and_whether_it_gets_one(read, settings, words):
    (frame,) = checks(read("reserve-or-allocate", **settings), "B")
    assert words in frame["caption"]


@pytest.mark.parametrize(
    ("in_one_piece", "settings"),
    [
        ("B is refused", {"capacity": 14}),
        ("C fits", {"block_size": 32, "capacity": 57, "prompt_length": 20}),
        ("C waits", {"block_size": 16, "capacity": 24}),
    ],
)
def test_where_c_waits_in_blocks_too_the_words_go_by_what_became_of_it_in_one_piece(
    read, in_one_piece, settings
):
    trace = read("reserve-or-allocate", **settings)
    (frame,) = (
        f for f in trace["frames"] if events(f, "RequestRefused", request="C", unit="blocks")
    )
    assert ("too" in frame["title"]) == (in_one_piece == "C waits")
    assert "nobody waits" not in trace["infeasible"]
    assert "both prompts" in trace["infeasible"]
    assert ("does not fit" in trace["infeasible"]) == (in_one_piece == "B is refused")
    assert ("C fits" in trace["infeasible"]) == (in_one_piece == "C fits")


def test_one_execution_processes_1_plus_6_input_tokens(trace):
    frame = frame_with(trace, "AttentionComputed", request="C")
    execution = frame["execution"]
    assert [(i["request"], i["num_tokens"]) for i in execution["inputs"]] == [("B", 1), ("C", 6)]
    assert execution["num_tokens"] == 7
    assert len(events(frame, "AttentionComputed")) == 2


def test_the_token_budget_is_kept_and_named_apart_from_memory(trace):
    frame = frame_with(trace, "AttentionComputed", request="C")
    assert frame["execution"]["token_budget"] == TOKEN_BUDGET  # the engine refuses more
    assert "nothing to do with memory" in frame["caption"]


def test_7_and_6_make_13_stored_after_the_execution(trace):
    frame = frame_with(trace, "AttentionComputed", request="C")
    assert [request(frame, name)["num_stored"] for name in ("B", "C")] == [7, 6]
    assert frame["state"]["totals"]["stored_slots"] == 13


def test_3_of_16_allocated_slots_are_empty_in_the_end(trace):
    totals = trace["frames"][-1]["state"]["totals"]
    assert (totals["empty_slots"], totals["allocated_slots"]) == (3, 16)


def test_waste_is_fewer_than_block_size_slots_a_request_and_not_none(trace):
    frame = trace["frames"][-1]
    wasted = {
        name: len(request(frame, name)["block_table"]) * 4 - request(frame, name)["num_stored"]
        for name in ("B", "C")
    }
    assert wasted == {"B": 1, "C": 2}
    assert max(wasted.values()) < trace["config"]["block_size"]
    reservation = frame["contiguous"]["reservations"][0]
    assert reservation["reserved"] - reservation["stored"] == 13


@pytest.mark.parametrize("settings", [{}, {"prompt_length": 16, "capacity": 32}], ids=str)
def test_bs_reservation_shows_the_same_moment_as_its_blocks(read, settings):
    """At a capacity of 32, B waits for a block and goes on in neither."""
    for frame in read("reserve-or-allocate", **settings)["frames"]:
        reservation = frame["contiguous"]["reservations"][0]
        assert reservation["stored"] == request(frame, "B")["num_stored"]
        assert reservation["tokens"] == request(frame, "B")["tokens"][: reservation["stored"]]


@pytest.mark.parametrize(
    "settings", [{"block_size": 1}, {"block_size": 1, "capacity": 18}, {"block_size": 4}], ids=str
)
def test_the_last_frame_speaks_of_waste_only_where_a_slot_is_empty(read, settings):
    frame = read("reserve-or-allocate", **settings)["frames"][-1]
    none_is_empty = frame["state"]["totals"]["empty_slots"] == 0
    assert none_is_empty == (settings["block_size"] == 1)
    assert ("No waste" in frame["title"]) == none_is_empty
    assert ("All" in frame["caption"]) == none_is_empty
    assert "0 of" not in frame["caption"]


def test_the_free_list_has_the_mixed_order_3_0_1_4_5_2_and_the_lesson_says_that_it_was_set(trace):
    first, last = trace["frames"][0]["state"], trace["frames"][-1]["state"]
    given = [r["block_table"] for r in last["requests"]]
    assert [*given[0], *given[1], *last["free_blocks"]] == [3, 0, 1, 4, 5, 2]
    assert first["free_blocks"] == [1, 4, 5, 2]
    assert says_that_the_order_was_set(trace)
