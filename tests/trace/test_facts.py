"""Paths into a frame: what they lead to, and the plain path that stands in the JSON."""

import re

import pytest
from trace_samples import FRAME

from pagedkv.settings import Settings
from pagedkv.trace.facts import Resolved, UnknownPathError, resolve


@pytest.mark.parametrize(
    ("expression", "value", "path"),
    [
        ("state.totals.stored_slots", 5, "state.totals.stored_slots"),
        ("config.capacity", 24, "config.capacity"),
        ("state.requests[0].block_table[1]", 0, "state.requests[0].block_table[1]"),
        ("state.requests[B].block_table[1]", 0, "state.requests[0].block_table[1]"),
        ("state.requests[R1].block_table[-1]", 8, "state.requests[1].block_table[8]"),
        ("events[BlockAllocated].block_id", 1, "events[0].block_id"),
        ("events[BlockAllocated$].block_id", 0, "events[1].block_id"),
        ("events[SlotsWritten].slots[-1]", 0, "events[2].slots[4]"),
        ("attention[B].layer", 0, "attention[0].layer"),
        ("attention[B$].layer", 2, "attention[2].layer"),
        ("len(state.waiting)", 2, "len(state.waiting)"),
        ("len(state.requests[B].tokens)", 5, "len(state.requests[0].tokens)"),
        (
            "state.totals.stored_slots + len(state.waiting) + config.block_size",
            11,
            "state.totals.stored_slots + len(state.waiting) + config.block_size",
        ),
    ],
)
def test_a_path_resolves_to_a_value_and_to_a_path_of_indices_only(expression, value, path):
    assert resolve(expression, FRAME, Settings()) == Resolved(value, path)


def test_a_resolved_path_resolves_to_itself():
    once = resolve("attention[B$].positions_per_block[-1]", FRAME, Settings())
    assert resolve(once.path, FRAME, Settings()) == once


@pytest.mark.parametrize(
    ("path", "step"),
    [
        ("state.total.stored_slots", ".total"),
        ("state.requests[Q].name", r"\[Q\]"),
        ("state.requests[3].name", r"\[3\]"),
        ("state.requests[-4].name", r"\[-4\]"),
        ("state.totals[0]", r"\[0\]"),
        ("worked_score.weight", ".weight"),
        ("config.block_table", ".block_table"),
    ],
)
def test_a_path_that_leads_nowhere_names_itself_and_the_step_that_failed(path, step):
    with pytest.raises(UnknownPathError, match=step) as failed:
        resolve(path, FRAME, Settings())
    assert repr(path) in str(failed.value)


@pytest.mark.parametrize(
    "path",
    [
        "events[0]-block_id!!",
        "events[0]block_id",
        "events[0]..block_id",
        "events[].block_id",
        "events[0",
        "len(state.waiting )",
        ".state",
        "config.capacity!",
        "config",
        "len(state.waiting",
        "state.waiting)",
        "",
    ],
)
def test_a_path_that_is_none_is_refused_whatever_its_parts_lead_to(path):
    with pytest.raises(UnknownPathError, match=r"stops at|is no path"):
        resolve(path, FRAME, Settings())


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("len(config.capacity)", "'config.capacity' has no length"),
        ("config.capacity + state.waiting", "'config.capacity + state.waiting' has no sum"),
        ("state.requests[0].name + config.capacity", "has no sum"),
    ],
)
def test_lengths_and_sums_of_what_has_none_are_refused(expression, message):
    with pytest.raises(UnknownPathError, match=re.escape(message)):
        resolve(expression, FRAME, Settings())
