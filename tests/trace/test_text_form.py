"""The readable form: for every frame its words, its board and the sums under it."""

import re
from dataclasses import replace

import pytest

from pagedkv.lessons import LESSONS
from pagedkv.trace.as_text import trace_to_text
from pagedkv.trace.first_look import first_look, last_queries
from pagedkv.trace.written import small

SLUGS = [lesson.slug for lesson in LESSONS]


@pytest.fixture(params=SLUGS)
def trace(request, recorded):
    return recorded(request.param)


def frames_of(text: str) -> list[str]:
    return re.split(r"^-{10,}\n", text, flags=re.MULTILINE)[1:]


def test_every_frame_has_its_place_title_and_caption(trace):
    parts = frames_of(trace_to_text(trace, "A lesson"))
    assert len(parts) == len(trace.frames)
    for frame, part in zip(trace.frames, parts, strict=True):
        assert part.startswith(f"{frame.index + 1} of {len(trace.frames)}: {frame.title}\n")
        assert frame.caption in part


def test_every_frame_has_the_sums_of_its_ledger(trace):
    for frame, part in zip(trace.frames, frames_of(trace_to_text(trace, "A lesson")), strict=True):
        totals = frame.state.totals
        assert f"{totals.free_blocks} free + {totals.blocks_in_use} in use" in part
        assert f"{totals.stored_slots} stored + {totals.empty_slots} empty" in part
        assert f"= {totals.allocated_slots} allocated" in part


def test_every_frame_has_the_free_blocks_in_the_order_in_which_they_will_be_given(trace):
    for frame, part in zip(trace.frames, frames_of(trace_to_text(trace, "A lesson")), strict=True):
        free = ", ".join(f"P{block_id}" for block_id in frame.state.free_blocks) or "none"
        assert f"\n  free, next one first: {free}\n" in part


def test_a_check_and_an_execution_are_there_with_their_numbers(trace):
    for frame, part in zip(trace.frames, frames_of(trace_to_text(trace, "A lesson")), strict=True):
        assert ("  check of " in part) == (frame.check is not None)
        assert ("  one execution: " in part) == (frame.execution is not None)
        if check := frame.check:
            answer = "fits" if check.fits else "does not fit"
            assert f"blocks needed {check.needed}, free {check.free}: {answer}\n" in part
        if execution := frame.execution:
            inputs = " + ".join(f"{i.num_tokens} of {i.request}" for i in execution.inputs)
            total, budget = execution.num_tokens, execution.token_budget
            assert f"inputs {inputs} = {total}, within the token budget {budget}\n" in part


def test_a_sum_that_does_not_hold_is_not_written_as_if_it_did(recorded):
    trace = recorded("growth")
    frame = trace.frames[0]
    totals = replace(frame.state.totals, free_blocks=0, empty_slots=0)
    broken = replace(trace, frames=(replace(frame, state=replace(frame.state, totals=totals)),))
    text = trace_to_text(broken, "A lesson")
    assert f"0 free + {totals.blocks_in_use} in use ≠ {trace.settings.num_blocks} blocks" in text
    assert f"0 empty ≠ {totals.allocated_slots} allocated" in text


def test_every_frame_has_each_block_with_ref_count_and_owners(trace):
    for frame, part in zip(trace.frames, frames_of(trace_to_text(trace, "A lesson")), strict=True):
        for block in frame.state.blocks:
            owners = ", ".join(block.slots[0].owners) or "nobody"
            assert re.search(
                rf"^  P{block.block_id} \[.*\] ref {block.ref_count}, {owners}$", part, re.MULTILINE
            )


def test_every_frame_has_each_request_with_counts_and_table(trace):
    for frame, part in zip(trace.frames, frames_of(trace_to_text(trace, "A lesson")), strict=True):
        for request in frame.state.requests:
            counts = f"{request.num_stored} of {request.num_tokens} stored"
            table = ", ".join(f"L{i}→P{b}" for i, b in enumerate(request.block_table))
            assert f"{counts}, table {table}" in part


def test_suppositions_and_comparisons_with_dense_are_there(trace):
    for frame, part in zip(trace.frames, frames_of(trace_to_text(trace, "A lesson")), strict=True):
        if frame.what_if:
            assert f"  What if {frame.what_if.title}: {frame.what_if.text}" in part
        if frame.attention:
            assert "largest difference to dense: weights " in part
        if frame.lookup:
            assert f"all {len(frame.lookup)} stored positions found" in part


def test_a_worked_score_is_there_with_its_numbers(recorded):
    trace = recorded("scattered-attention")
    (frame,) = (frame for frame in trace.frames if frame.worked_score)
    part = frames_of(trace_to_text(trace, "A lesson"))[frame.index]
    assert f"{frame.worked_score.dot:.2f}" in part
    assert f"{frame.worked_score.kernel_weight:.2f}" in part


def test_the_weights_beside_a_worked_score_are_those_that_it_belongs_to(recorded):
    trace = recorded("scattered-attention")
    (frame,) = (frame for frame in trace.frames if frame.worked_score)
    score = frame.worked_score
    part = frames_of(trace_to_text(trace, "A lesson"))[frame.index]
    place = f"layer {score.layer}, head {score.head}"
    assert f"position {score.query_position} asks position {score.key_position}, {place}: " in part
    (weights,) = re.findall(
        rf"attention of {score.request}, position {score.query_position}, {place}: (.*); sum", part
    )
    assert weights.split(", ")[score.key_position] == f"{score.kernel_weight:.2f}"


def test_attention_has_the_errors_of_its_weights_and_of_its_output(recorded):
    trace = recorded("scattered-attention")
    frame = trace.frames[-1]
    layer, _ = first_look(trace)
    view = next(view for view in last_queries(frame.attention) if view.layer == layer)
    part = frames_of(trace_to_text(trace, "A lesson"))[frame.index]
    weights, output = small(view.max_abs_error_weights), small(view.max_abs_error_output)
    assert f"largest difference to dense: weights {weights}, output {output}\n" in part


def test_one_look_up_is_worked_out(recorded):
    trace = recorded("block-table")
    text = trace_to_text(trace, "A lesson")
    assert (
        "  look-up of B's position 6: 6 ÷ 4 = 1 remainder 2, so L1, offset 2; table L1→P0; "
        "0 × 4 + 2 = slot 2 of the pool\n"
    ) in text


def test_a_comparison_is_there_with_its_largest_differences(recorded):
    trace = recorded("shared-prefix")
    (frame,) = (frame for frame in trace.frames if frame.comparison)
    part = frames_of(trace_to_text(trace, "A lesson"))[frame.index]
    for layer in frame.comparison.layers:
        assert f"{layer.max_abs_k:.2f}" in part and f"{layer.max_abs_v:.2f}" in part
    assert all(prompt in part for prompt in ("To␣be,", "So␣be,"))


def test_the_states_of_slots_can_be_told_apart(recorded):
    text = trace_to_text(recorded("freeing"), "Freeing")
    assert "~T0~" in text  # stale
    assert "(6)" in text  # empty
    assert "*N0*" in text  # written now
    assert "·" in text  # free
    assert "N0 " in text  # stored


def test_it_begins_with_title_settings_and_what_computed_it(recorded):
    text = trace_to_text(recorded("growth", block_size=5, capacity=23), "Growth")
    title, settings, computed = text.splitlines()[:3]
    assert title == "Growth"
    assert "block size 5, capacity 23 positions = 4 blocks (3 slots unusable)" in settings
    assert "computed by" in computed and "parameters" in computed


def test_it_says_at_the_top_what_these_settings_cannot_show(recorded):
    trace = recorded("growth", capacity=16)
    assert trace.infeasible
    assert f"Note: {trace.infeasible}" in trace_to_text(trace, "Growth").splitlines()[3]


def test_a_pool_without_blocks_can_be_written_too(recorded):
    for slug in SLUGS:
        trace = recorded(slug, block_size=32, capacity=4)
        text = trace_to_text(trace, slug)
        assert "0 free + 0 in use = 0 blocks" in text
        assert "Note: " in text
