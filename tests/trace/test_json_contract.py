"""The keys of a trace's JSON, one by one: tests and tools outside the package rely on them."""

import json
import math
from typing import Any, get_args

import pytest

from pagedkv.events import Event
from pagedkv.lessons import LESSONS
from pagedkv.trace.as_json import to_plain, trace_to_dict

SLUGS = [lesson.slug for lesson in LESSONS]

# What the contract promises, by the kind of object.
PROMISED = {
    "trace": {"lesson", "figure", "config", "runtime", "infeasible", "frames"},
    "config": {
        "block_size",
        "capacity",
        "num_blocks",
        "unusable_slots",
        "prompt_length",
        "seed",
    },
    "runtime": {"device", "backend", "model"},
    "frame": {
        "index",
        "title",
        "caption",
        "facts",
        "events",
        "state",
        "contiguous",
        "lookup",
        "what_if",
        "attention",
    },
    "fact": {"value", "path"},
    "state": {"requests", "waiting", "blocks", "free_blocks", "totals"},
    "request": {"name", "tokens", "num_tokens", "num_stored", "pending_token", "block_table"},
    "block": {"block_id", "ref_count", "slots"},
    "slot": {"state", "owners", "position", "token", "written_now"},
    "totals": {
        "capacity_slots",
        "allocated_slots",
        "stored_slots",
        "empty_slots",
        "free_slots",
        "blocks_in_use",
        "free_blocks",
    },
    "contiguous": {"capacity_slots", "reservations", "free_slots", "refused"},
    "reservation": {"request", "start", "reserved", "stored"},
    "lookup": {
        "request",
        "position",
        "logical_block",
        "offset",
        "block_id",
        "flat_slot",
        "max_abs_error_k",
        "max_abs_error_v",
    },
    "attention": {
        "request",
        "query_position",
        "context_length",
        "layer",
        "block_ids",
        "paged",
        "dense",
        "max_abs_error_weights",
        "max_abs_error_output",
        "skipped_blocks",
        "skipped_slots",
    },
}

# What there is beyond it.
EXTRA = {
    "runtime": {"gpu"},
    "frame": {"check", "execution", "worked_score", "comparison"},
    "totals": {"table_entries"},
    "reservation": {"tokens"},
    "attention": {"positions_per_block"},
}

EVENT_FIELDS = {
    "RequestAdmitted": {"request", "num_tokens", "num_blocks"},
    "RequestRefused": {"request", "needed", "free", "total", "reason", "unit"},
    "BlockAllocated": {"request", "logical_block", "block_id"},
    "TableChanged": {"request", "logical_block", "before", "block_id"},
    "SlotsWritten": {"request", "slots", "positions"},
    "BlockCopied": {"request", "source", "destination", "positions"},
    "RefCountChanged": {"block_id", "before", "after"},
    "RequestForked": {"parent", "child", "num_blocks"},
    "BlockFreed": {"block_id"},
    "RequestFinished": {"request"},
    "TokenSelected": {"request", "token", "rank"},
    "AttentionComputed": {"request", "num_queries", "context_len"},
}


@pytest.fixture(params=SLUGS)
def plain(request, recorded) -> dict[str, Any]:
    return trace_to_dict(recorded(request.param))


def assert_keys(kind: str, *objects: dict[str, Any]) -> None:
    for thing in objects:
        assert thing.keys() == PROMISED[kind] | EXTRA.get(kind, set())


def test_every_object_has_exactly_the_keys_of_the_contract(plain):
    assert_keys("trace", plain)
    assert_keys("config", plain["config"])
    assert_keys("runtime", plain["runtime"])
    for frame in plain["frames"]:
        assert_keys("frame", frame)
        assert_keys("fact", *frame["facts"])
        assert_keys("lookup", *(frame["lookup"] or ()))
        assert_keys("attention", *(frame["attention"] or ()))


def test_every_part_of_a_state_has_exactly_the_keys_of_the_contract(plain):
    for state in (frame["state"] for frame in plain["frames"]):
        assert_keys("state", state)
        assert_keys("totals", state["totals"])
        assert_keys("request", *state["requests"])
        assert_keys("block", *state["blocks"])
        assert_keys("slot", *(slot for block in state["blocks"] for slot in block["slots"]))


def test_the_contiguous_baseline_has_exactly_the_keys_of_the_contract(recorded):
    frames = trace_to_dict(recorded("reserve-or-allocate"))["frames"]
    for contiguous in (frame["contiguous"] for frame in frames):
        assert_keys("contiguous", contiguous)
        assert_keys("reservation", *contiguous["reservations"])


def test_only_the_first_lesson_has_a_contiguous_baseline(plain):
    present = {frame["contiguous"] is not None for frame in plain["frames"]}
    assert present == {plain["lesson"] == "reserve-or-allocate"}


def test_an_event_has_its_type_and_the_fields_of_that_type(plain):
    for event in (event for frame in plain["frames"] for event in frame["events"]):
        assert event.keys() == {"type"} | EVENT_FIELDS[event["type"]]


def test_the_contract_knows_every_type_of_event():
    assert {kind.__name__ for kind in get_args(Event)} == EVENT_FIELDS.keys()


def test_no_number_is_nan_or_infinite_and_everything_is_plain_data(plain):
    text = json.dumps(plain, allow_nan=False)
    assert json.loads(text) == plain


def test_no_error_of_attention_or_look_up_is_missing(plain):
    """A number that is not finite is written as null; here that would mean broken attention."""
    for frame in plain["frames"]:
        for view in frame["attention"] or ():
            assert None not in (view["max_abs_error_weights"], view["max_abs_error_output"])
        for view in frame["lookup"] or ():
            assert None not in (view["max_abs_error_k"], view["max_abs_error_v"])


def test_a_float_that_is_not_finite_becomes_null():
    assert to_plain((1.5, math.nan, math.inf, -math.inf)) == [1.5, None, None, None]


def test_slot_states_are_the_four_of_the_contract(plain):
    states = {
        slot["state"]
        for frame in plain["frames"]
        for block in frame["state"]["blocks"]
        for slot in block["slots"]
    }
    assert states <= {"free", "stale", "empty", "stored"}


def test_config_says_what_follows_from_the_settings(recorded):
    config = trace_to_dict(recorded("growth", block_size=5, capacity=23))["config"]
    assert config == {
        "block_size": 5,
        "capacity": 23,
        "num_blocks": 4,
        "unusable_slots": 3,
        "prompt_length": 6,
        "seed": 0,
    }


def test_runtime_says_what_computed_the_numbers(plain):
    runtime = plain["runtime"]
    assert runtime["device"] in ("cpu", "cuda")
    assert runtime["backend"] in ("triton-cuda", "triton-interpreter", "torch")
    assert "parameters" in runtime["model"]
