"""Every lesson over a grid of settings: it runs, its sums hold, and its words are true.

Each block size meets each prompt length, and each capacity meets each of both. A third of these
settings leave no room for what the lesson wants to show; then the frames say so. Whether they do is
foretold by ``lesson_oracles``.
"""

import json
import math

import numpy as np
import pytest
from lesson_citations import digit_runs, evaluate, remedies, slips_of_grammar
from lesson_oracles import CANNOT_SHOW
from lesson_reading import Json

from pagedkv.lessons import LESSONS
from pagedkv.recorder import record
from pagedkv.settings import Settings
from pagedkv.trace.as_json import trace_to_dict

BLOCK_SIZES = (1, 2, 3, 4, 5, 7, 8, 16, 32)
CAPACITIES = (4, 8, 23, 24, 64, 256)
PROMPT_LENGTHS = (1, 2, 5, 8, 17, 64)

GRID = [
    Settings(block_size, CAPACITIES[(i + j) % len(CAPACITIES)], prompt_length)
    for i, block_size in enumerate(BLOCK_SIZES)
    for j, prompt_length in enumerate(PROMPT_LENGTHS)
]
AT_THE_EDGE = [
    Settings(),
    Settings(prompt_length=8),
    Settings(capacity=8),  # the shared prompt fits, and not one block more
    Settings(capacity=12),  # B and C fit one by one, and not side by side
    Settings(capacity=16),  # both fit, and B cannot grow
    Settings(block_size=1, capacity=12),  # both fit, and B's very next input does not
    Settings(block_size=32, capacity=4),  # no block at all
]
TOLERANCE = 1e-5


def named(settings: Settings) -> str:
    return f"b{settings.block_size}-c{settings.capacity}-p{settings.prompt_length}"


@pytest.fixture(scope="module", params=[*GRID, *AT_THE_EDGE], ids=named)
def traces(request, model) -> list[Json]:
    """All lessons at one setting."""
    return [trace_to_dict(record(lesson, request.param, model=model)) for lesson in LESSONS]


@pytest.fixture
def frames(traces) -> list[tuple[Json, Json]]:
    """Every frame of every lesson, with the trace it belongs to."""
    return [(trace, frame) for trace in traces for frame in trace["frames"]]


def test_every_lesson_has_frames_with_words_in_order(traces):
    assert [trace["lesson"] for trace in traces] == list(CANNOT_SHOW)
    for trace in traces:
        assert [frame["index"] for frame in trace["frames"]] == list(range(len(trace["frames"])))
        assert trace["frames"]
        assert all(frame["title"] and frame["caption"] for frame in trace["frames"])


def test_the_point_is_called_infeasible_exactly_when_it_cannot_be_shown(traces):
    for trace in traces:
        config = trace["config"]
        cannot = CANNOT_SHOW[trace["lesson"]](
            config["block_size"], config["capacity"], config["prompt_length"]
        )
        assert (trace["infeasible"] is not None) == cannot, trace["lesson"]
        assert trace["infeasible"] is None or len(trace["infeasible"].split()) > 8


def test_the_sums_of_the_ledger_hold(frames):
    for trace, frame in frames:
        state, totals = frame["state"], frame["state"]["totals"]
        block_size, num_blocks = trace["config"]["block_size"], trace["config"]["num_blocks"]
        in_use = {b for request in state["requests"] for b in request["block_table"]}
        states = [cell["state"] for block in state["blocks"] for cell in block["slots"]]
        assert len(states) == totals["capacity_slots"] == num_blocks * block_size
        assert totals["free_blocks"] + totals["blocks_in_use"] == len(state["blocks"]) == num_blocks
        assert totals["blocks_in_use"] == len(in_use)
        assert totals["stored_slots"] + totals["empty_slots"] == totals["allocated_slots"]
        assert totals["allocated_slots"] == len(in_use) * block_size
        assert totals["stored_slots"] == states.count("stored")
        assert totals["empty_slots"] == states.count("empty")
        assert totals["free_slots"] == states.count("free") + states.count("stale")


def test_tables_ref_counts_and_free_list_agree(frames):
    for trace, frame in frames:
        state = frame["state"]
        entries = [b for request in state["requests"] for b in request["block_table"]]
        assert [b["ref_count"] for b in state["blocks"]] == [
            entries.count(block_id) for block_id in range(trace["config"]["num_blocks"])
        ]
        assert sorted([*state["free_blocks"], *set(entries)]) == list(
            range(trace["config"]["num_blocks"])
        )
        assert len(entries) == state["totals"]["table_entries"]


def test_a_request_has_exactly_the_blocks_and_tokens_that_its_positions_need(frames):
    for trace, frame in frames:
        for request in frame["state"]["requests"]:
            needed = math.ceil(request["num_tokens"] / trace["config"]["block_size"])
            assert len(request["block_table"]) == len(set(request["block_table"])) == needed
            assert len(request["tokens"]) == request["num_tokens"]
            assert 0 <= request["num_stored"] <= request["num_tokens"]


def test_every_slot_is_what_the_tables_and_counts_say(frames):
    for trace, frame in frames:
        for block in frame["state"]["blocks"]:
            for offset, cell in enumerate(block["slots"]):
                check_slot(cell, block["block_id"], offset, frame, trace["config"]["block_size"])


def check_slot(cell: Json, block_id: int, offset: int, frame: Json, block_size: int) -> None:
    owners = [r for r in frame["state"]["requests"] if block_id in r["block_table"]]
    assert cell["owners"] == [request["name"] for request in owners]
    if not owners:
        assert cell["state"] in ("free", "stale")
        assert (cell["position"] is None) == (cell["token"] is None) == (cell["state"] == "free")
        assert not cell["written_now"]
    for request in owners:
        position = request["block_table"].index(block_id) * block_size + offset
        stored = position < request["num_stored"]
        assert cell["state"] == ("stored" if stored else "empty")
        assert cell["position"] == position
        if position < request["num_tokens"]:
            assert cell["token"] == request["tokens"][position]


def test_paged_attention_equals_dense_attention(frames):
    for _, frame in frames:
        for view in frame["attention"] or ():
            paged, dense = np.array(view["paged"]), np.array(view["dense"])
            assert paged.shape == dense.shape == (4, view["context_length"])
            assert view["max_abs_error_weights"] < TOLERANCE
            assert view["max_abs_error_output"] < TOLERANCE
            assert np.abs(paged - dense).max() < TOLERANCE
            assert paged.min() >= 0
            assert np.abs(paged.sum(axis=1) - 1).max() < TOLERANCE


def test_attention_reads_the_context_once_in_logical_order_and_skips_the_rest(frames):
    for trace, frame in frames:
        block_size, num_blocks = trace["config"]["block_size"], trace["config"]["num_blocks"]
        for view in frame["attention"] or ():
            length, blocks = view["context_length"], view["block_ids"]
            table = blocks[::block_size]
            assert length == view["query_position"] + 1 == len(blocks)
            assert blocks == [table[p // block_size] for p in range(length)]
            assert len(set(table)) == len(table) == len(view["positions_per_block"])
            assert sum(view["positions_per_block"]) == length
            assert not set(view["skipped_blocks"]) & set(table)
            assert set(view["skipped_blocks"]) | set(table) <= set(range(num_blocks))


def test_the_latest_query_reads_the_requests_table_as_it_stands(frames):
    for trace, frame in frames:
        requests = {request["name"]: request for request in frame["state"]["requests"]}
        in_use = {b for request in requests.values() for b in request["block_table"]}
        for view in frame["attention"] or ():
            request = requests[view["request"]]
            if view["context_length"] == request["num_stored"]:
                table = request["block_table"]
                assert list(dict.fromkeys(view["block_ids"])) == table
                assert view["skipped_slots"] == (
                    len(table) * trace["config"]["block_size"] - view["context_length"]
                )
                assert set(view["skipped_blocks"]) <= in_use - set(table)


def test_every_query_that_attended_in_a_frame_has_one_view_per_layer(frames):
    for _, frame in frames:
        attended = [
            (event["request"], position, layer)
            for event in frame["events"]
            if event["type"] == "AttentionComputed"
            for position in range(event["context_len"] - event["num_queries"], event["context_len"])
            for layer in range(3)
        ]
        views = [(v["request"], v["query_position"], v["layer"]) for v in frame["attention"] or ()]
        assert len(views) == len(set(views))
        assert not attended or sorted(views) == sorted(attended)


def test_every_look_up_finds_the_dense_copys_k_and_v(frames):
    for trace, frame in frames:
        if frame["lookup"] is None:
            continue
        requests = {request["name"]: request for request in frame["state"]["requests"]}
        stored = [(r["name"], p) for r in requests.values() for p in range(r["num_stored"])]
        assert [(view["request"], view["position"]) for view in frame["lookup"]] == stored
        for view in frame["lookup"]:
            block_size = trace["config"]["block_size"]
            logical_block, offset = divmod(view["position"], block_size)
            block_id = requests[view["request"]]["block_table"][logical_block]
            assert (view["logical_block"], view["offset"]) == (logical_block, offset)
            assert view["block_id"] == block_id
            assert view["flat_slot"] == block_id * block_size + offset
            assert (view["max_abs_error_k"], view["max_abs_error_v"]) == (0.0, 0.0)


def told(trace: Json, frame: Json) -> list[tuple[str, list[Json]]]:
    """The frame's texts, each with the facts that stand for its numbers."""
    texts = [(frame["caption"], frame["facts"])]
    if frame["what_if"]:
        texts.append((frame["what_if"]["text"], frame["what_if"]["facts"]))
    return texts


def test_every_number_in_the_words_is_a_fact(frames):
    for trace, frame in frames:
        for text, facts in told(trace, frame):
            values = {str(fact["value"]) for fact in facts}
            assert digit_runs(text, ["R1", "R2"]) <= values, text


def test_every_fact_is_what_stands_at_its_path(frames):
    for trace, frame in frames:
        for text, facts in told(trace, frame):
            for fact in facts:
                value = evaluate(fact["path"], frame, trace["config"])
                assert (type(value), value) == (type(fact["value"]), fact["value"]), text


def test_every_remedy_that_a_reason_offers_works(traces):
    for trace in (trace for trace in traces if trace["infeasible"]):
        now = {name: trace["config"][name] for name in ("block_size", "capacity", "prompt_length")}
        offered = remedies(trace["infeasible"])
        assert offered, trace["infeasible"]
        for change in offered:
            settings = Settings(**(now | change))
            cannot = CANNOT_SHOW[trace["lesson"]](
                settings.block_size, settings.capacity, settings.prompt_length
            )
            assert not cannot, (settings, trace["infeasible"])


def test_every_number_in_the_reason_is_a_setting_a_sum_of_the_last_frame_or_a_remedy(traces):
    for trace in traces:
        totals = trace["frames"][-1]["state"]["totals"]
        known = {str(value) for value in (*trace["config"].values(), *totals.values())}
        offered = remedies(trace["infeasible"] or "")
        known |= {str(value) for change in offered for value in change.values()}
        assert digit_runs(trace["infeasible"] or "", ["R1", "R2"]) <= known


def test_nouns_and_verbs_agree_with_their_numbers(traces, frames):
    texts = [text for trace, frame in frames for text, _ in told(trace, frame)]
    texts += [trace["infeasible"] for trace in traces if trace["infeasible"]]
    assert [slip for text in texts for slip in slips_of_grammar(text)] == []


def suppositions(frames: list[tuple[Json, Json]], kind: str) -> list[tuple[Json, Json]]:
    """The what-ifs of this kind, each with its frame."""
    what_ifs = [(frame["what_if"], frame) for _, frame in frames if frame["what_if"]]
    return [(what_if, frame) for what_if, frame in what_ifs if what_if["kind"] == kind]


def test_a_supposition_counts_the_cells_that_it_marks_as_wrong(frames):
    for what_if in (frame["what_if"] for _, frame in frames if frame["what_if"]):
        wrong = [cell for cell in what_if["cells"] if cell["wrong"]]
        assert what_if["num_wrong"] == len(wrong)
        assert all(cell["wanted_by"] for cell in wrong)


def test_slots_read_straight_on_are_called_wrong_where_another_position_than_bs_is_in_them(frames):
    for what_if, frame in suppositions(frames, "straight-on"):
        cells = [slot for b in frame["state"]["blocks"] for slot in b["slots"]]
        start = first_slot_of_b(frame)
        right = [
            (cell["state"], cell["owners"], cell["position"]) == ("stored", ["B"], position)
            for position, cell in enumerate(cells[start : start + len(what_if["cells"])])
        ]
        assert [not cell["wrong"] for cell in what_if["cells"]] == right
        assert what_if["num_wrong"] == right.count(False)
        assert ("something other than" in what_if["text"]) == (what_if["num_wrong"] > 0)


def test_no_more_slots_are_read_straight_on_than_the_pool_has(frames):
    for what_if, frame in suppositions(frames, "straight-on"):
        left = frame["state"]["totals"]["capacity_slots"] - first_slot_of_b(frame)
        (b,) = (r for r in frame["state"]["requests"] if r["name"] == "B")
        assert len(what_if["cells"]) == min(left, b["num_stored"])
        assert ("The pool ends" in what_if["text"]) <= (left < b["num_stored"])


def first_slot_of_b(frame: Json) -> int:
    (b,) = (r for r in frame["state"]["requests"] if r["name"] == "B")
    blocks = frame["state"]["blocks"]
    first: int = b["block_table"][0] * len(blocks[0]["slots"])
    return first


def test_blocks_are_called_free_elsewhere_only_where_some_are_free(frames):
    for what_if, frame in suppositions(frames, "neighbours"):
        if frame["state"]["totals"]["free_blocks"] == 0:
            assert "elsewhere" not in what_if["text"]


def test_old_bytes_are_said_to_remain_only_where_some_are_left(frames):
    for _, frame in frames:
        if "old bytes remain" in frame["caption"]:
            states = {slot["state"] for b in frame["state"]["blocks"] for slot in b["slots"]}
            assert "stale" in states


def test_the_same_settings_give_the_same_json():
    for settings in (Settings(), Settings(block_size=5, capacity=23, prompt_length=8)):
        for lesson in LESSONS:
            one, other = (
                json.dumps(trace_to_dict(record(lesson, settings)), allow_nan=False)
                for _ in range(2)
            )
            assert one == other
