"""The view model: everything that the browser draws, computed in Python."""

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest
import sample

from pagedkv.player import player_css, player_data, player_js, player_json
from pagedkv.player.text import figure
from pagedkv.player.words import SCREEN
from pagedkv.settings import Settings
from pagedkv.trace.written import small, visible


def view_of(trace):
    return player_data(trace, sample.lesson())


def blocks_of(data, index):
    return [data["blocks"][place] for place in data["frames"][index]["blocks"]]


def groups_of(data, index):
    return [
        data["groups"][place] if isinstance(place, int) else place
        for place in data["frames"][index]["groups"]
    ]


@pytest.fixture(scope="module")
def growth():
    return view_of(sample.growth())


@pytest.fixture(scope="module")
def copy_on_write():
    return view_of(sample.copy_on_write())


# --- the whole ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sample.ALL)
def test_the_view_is_plain_json_of_at_most_300_kb(name) -> None:
    text = json.dumps(view_of(sample.ALL[name]()), allow_nan=False)
    assert len(text.encode()) <= 300_000


def test_equal_traces_have_equal_keys_and_different_ones_do_not(growth, copy_on_write) -> None:
    assert view_of(sample.growth())["key"] == growth["key"]
    assert json.loads(player_json(sample.growth(), sample.lesson())) == growth
    assert copy_on_write["key"] != growth["key"]
    assert view_of(sample.growth(Settings(block_size=3)))["key"] != growth["key"]


def test_nothing_computed_needs_the_engine_or_torch() -> None:
    import ast
    from pathlib import Path

    import pagedkv.player

    allowed = {"events", "player", "settings", "terms", "trace"}
    for path in Path(pagedkv.player.__file__).parent.glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pagedkv."):
                assert node.module.split(".")[1] in allowed, f"{path.name}: {node.module}"


def test_the_scripts_are_texts_of_many_lines() -> None:
    assert "export function mountPlayer" in player_js()
    assert player_js().count("\n") > 100
    assert player_css().count("\n") > 100


def test_every_style_rule_stays_below_the_player() -> None:
    css = re.sub(r"/\*.*?\*/", "", player_css(), flags=re.DOTALL)
    selectors = re.findall(r"(?:^|[{}])([^{}@]+)\{", css)
    assert selectors
    for selector in selectors:
        assert selector.strip().startswith(".pagedkv-player"), selector


# --- blocks and slots ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", sample.ALL)
def test_every_slot_of_every_frame_is_as_in_the_trace(name) -> None:
    trace = sample.ALL[name]()
    data = view_of(trace)
    names = [request["name"] for request in data["requests"]]
    for frame in trace.frames:
        for block, shown in zip(frame.state.blocks, blocks_of(data, frame.index), strict=True):
            assert shown["id"] == block.block_id
            assert shown["ref"] == block.ref_count
            for slot, cell in zip(block.slots, shown["slots"], strict=True):
                assert cell["s"] == slot.state
                assert tuple(names[i] for i in cell.get("o", ())) == slot.owners
                assert cell.get("p") == slot.position
                assert bool(cell.get("n")) == slot.written_now


def test_equal_blocks_are_sent_once(growth) -> None:
    texts = [json.dumps(block, sort_keys=True) for block in growth["blocks"]]
    assert len(texts) == len(set(texts))
    assert len(texts) < sum(len(frame["blocks"]) for frame in growth["frames"])


def test_an_empty_slot_shows_no_character(growth) -> None:
    empty = [slot for block in growth["blocks"] for slot in block["slots"] if slot["s"] == "empty"]
    assert empty
    assert all("c" not in slot for slot in empty)


def test_an_empty_slot_shows_what_its_old_bytes_were() -> None:
    """Neither freeing a block nor giving it again erases anything."""
    trace = sample.given_again()
    _, ended, given = trace.frames
    block = given.state.requests[0].block_table[0]
    old = [slot.token for slot in ended.state.blocks[block].slots]
    shown = blocks_of(view_of(trace), 2)[block]["slots"]
    assert [slot["s"] for slot in shown] == ["empty"] * 4
    assert [slot["was"] for slot in shown] == [visible(token) for token in old]
    assert all(slot["label"].endswith(", old bytes in it") for slot in shown)


def test_an_empty_slot_without_old_bytes_shows_none(growth) -> None:
    empty = [slot for block in growth["blocks"] for slot in block["slots"] if slot["s"] == "empty"]
    assert empty
    assert not any("was" in slot for slot in empty)


def test_a_changed_ref_count_shows_before_and_after(copy_on_write) -> None:
    written = blocks_of(copy_on_write, 2)
    assert written[1]["refText"] == "ref 2 → 1"
    assert written[1]["changed"]
    assert written[0]["refText"] == "ref 2"
    assert written[2]["refText"] == "ref 1"
    assert written[2]["origin"] == "copied from P1"


def test_a_block_lists_every_owner_with_its_logical_block(copy_on_write) -> None:
    assert blocks_of(copy_on_write, 0)[1]["tags"] == ["R1·L1", "R2·L1"]


def test_a_free_block_says_if_it_is_the_next_and_if_it_holds_old_bytes(copy_on_write) -> None:
    after_r1 = blocks_of(copy_on_write, 4)
    assert after_r1[2]["free"] == "free · next"
    assert after_r1[2]["note"] == "returned · old bytes"
    assert after_r1[3]["free"] == "free"
    assert after_r1[3]["note"] == ""


def test_white_space_is_made_visible() -> None:
    assert visible(" ") == "␣"
    assert visible("\n") == "↵"
    assert visible("a") == "a"


# --- requests -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sample.ALL)
def test_the_rows_of_a_request_are_its_block_table(name) -> None:
    trace = sample.ALL[name]()
    data = view_of(trace)
    names = [request["name"] for request in data["requests"]]
    for frame in trace.frames:
        groups = groups_of(data, frame.index)
        for request in frame.state.requests:
            group = groups[names.index(request.name)]
            assert tuple(row["b"] for row in group["rows"]) == request.block_table
            cells = [cell for row in group["rows"] for cell in row["cells"]]
            assert sum(cell["s"] == "stored" for cell in cells) == request.num_stored


def test_positions_not_stored_yet_show_their_character_as_empty(growth) -> None:
    row = groups_of(growth, 0)[0]["rows"][0]
    assert [cell["s"] for cell in row["cells"]] == ["empty"] * 4
    assert [cell["c"] for cell in row["cells"]] == list("ROME")


def test_the_pending_token_is_apart_from_the_cells(growth) -> None:
    group = groups_of(growth, 1)[0]
    assert group["pending"] == "↵"
    assert sum(len(row["cells"]) for row in group["rows"]) == 8


def test_only_table_entries_of_this_frame_are_marked_as_changed(copy_on_write) -> None:
    r1, r2 = groups_of(copy_on_write, 2)[:2]
    assert [row["changed"] for row in r1["rows"]] == [False, True]
    assert [row["changed"] for row in r2["rows"]] == [False, False]


def test_a_forked_request_has_all_entries_marked_as_changed() -> None:
    data = view_of(with_a_frame_before(sample.copy_on_write()))
    assert all(row["changed"] for row in groups_of(data, 1)[1]["rows"])


@pytest.mark.parametrize("name", sample.ALL)
def test_a_first_frame_shows_where_the_lesson_starts_and_nothing_as_changed(name) -> None:
    data = view_of(sample.ALL[name]())
    rows = [row for group in groups_of(data, 0) if group for row in group["rows"]]
    assert rows
    assert not any(row["changed"] for row in rows)
    for block in blocks_of(data, 0):
        assert (block["changed"], block["origin"]) == (False, "")
        assert block["refText"] == f"ref {block['ref']}"


def test_what_a_first_frame_does_not_mark_a_later_one_would() -> None:
    data = view_of(with_a_frame_before(sample.growth()))
    held = [block for block in blocks_of(data, 1) if block["ref"]]
    assert held
    assert {(block["changed"], block["origin"]) for block in held} == {(True, "new")}


def with_a_frame_before(trace):
    """Make the trace's first frame its second."""
    later = [replace(frame, index=frame.index + 1) for frame in trace.frames]
    return replace(trace, frames=(trace.frames[0], *later))


def test_a_request_keeps_its_colour_to_the_end(copy_on_write) -> None:
    colours = {request["name"]: request["colour"] for request in copy_on_write["requests"]}
    assert colours == {"R1": 0, "R2": 1, "D": 2}


def test_an_ended_request_is_named_until_another_takes_its_lane(copy_on_write) -> None:
    assert copy_on_write["stage"]["lanes"] == [0, 1, 0]
    assert groups_of(copy_on_write, 4)[0] == "has ended"
    assert groups_of(copy_on_write, 5)[:2] == ["has ended", "has ended"]
    r1, r2, d = groups_of(copy_on_write, 6)
    assert r1 is None
    assert r2 == "has ended"
    assert d["rows"][0]["b"] == 0


def test_the_stage_has_room_for_the_longest_table_of_each_request(growth) -> None:
    assert growth["stage"]["rows"] == [3, 2]
    assert growth["stage"]["pending"] == [True, True]


# --- legend and sums ----------------------------------------------------------------------------


def test_the_legend_lists_only_what_is_on_screen(copy_on_write) -> None:
    keys = [[key for key, _ in frame["legend"]] for frame in copy_on_write["frames"]]
    assert keys[0] == ["written", "shared", "empty", "free"]
    assert keys[5] == ["free", "stale"]
    assert "stale" not in keys[2]
    given = view_of(sample.given_again())
    keys = [{key for key, _ in frame["legend"]} for frame in given["frames"]]
    assert ["leftover" in key for key in keys] == [False, False, True]


@pytest.mark.parametrize("name", sample.ALL)
def test_every_sum_of_the_ledger_holds(name) -> None:
    for frame in view_of(sample.ALL[name]())["frames"]:
        for entry in frame["ledger"]:
            if entry["id"] in ("pool", "slots"):
                assert entry["sign"] == "="
                assert sum(value for value, _ in entry["parts"]) == entry["total"][0]


def test_a_lost_block_and_a_lost_slot_show_as_sums_that_do_not_hold() -> None:
    trace = sample.growth()
    frame = trace.frames[1]
    totals = frame.state.totals
    lost = replace(totals, free_blocks=totals.free_blocks - 1, empty_slots=totals.empty_slots - 1)
    state = replace(frame.state, totals=lost)
    data = view_of(replace(trace, frames=(replace(frame, state=state),)))
    pool, slots = data["frames"][0]["ledger"]
    assert (pool["sign"], pool["total"][0]) == ("≠", trace.settings.num_blocks)
    assert (slots["sign"], slots["total"][0]) == ("≠", totals.allocated_slots)


def test_the_ledger_shows_entries_and_blocks_only_while_sharing(copy_on_write, growth) -> None:
    sharing = [e for e in copy_on_write["frames"][0]["ledger"] if e["id"] == "sharing"]
    assert sharing[0]["parts"] == [[4, "table entries"]]
    assert sharing[0]["total"] == [2, "blocks"]
    for frame in growth["frames"]:
        assert [entry["id"] for entry in frame["ledger"]] == ["pool", "slots"]


def test_the_ledger_marks_the_numbers_that_changed(growth) -> None:
    stored = growth["frames"][1]["ledger"][1]
    assert stored["parts"] == [[12, "stored"], [4, "empty"]]
    assert stored["changed"] == [0, 1]
    assert growth["frames"][0]["ledger"][1]["changed"] == []


def test_slots_that_make_no_block_are_mentioned() -> None:
    data = view_of(sample.growth(Settings(block_size=5, capacity=24)))
    texts = [entry["text"] for entry in data["frames"][0]["ledger"] if "text" in entry]
    assert texts == ["4 of 24 positions make no whole block"]


def test_a_pool_without_blocks_says_so() -> None:
    data = view_of(sample.growth(Settings(block_size=32, capacity=4)))
    assert data["config"]["no_blocks"].startswith("No block at all")
    assert data["infeasible"] is not None
    assert view_of(sample.growth())["config"]["no_blocks"] is None


# --- captions -----------------------------------------------------------------------------------


def test_a_caption_is_kept_word_for_word(growth) -> None:
    trace = sample.growth()
    for frame, shown in zip(trace.frames, growth["frames"], strict=True):
        text = "".join(run if isinstance(run, str) else run["t"] for run in shown["caption"])
        assert text == frame.caption


def test_blocks_entries_and_requests_of_a_caption_point_to_the_board(growth) -> None:
    runs = [run for run in growth["frames"][1]["caption"] if isinstance(run, dict)]
    assert {"t": "P3", "block": 3} in runs
    assert {"t": "B", "request": 0} in runs
    assert {"t": "L0", "entries": [[0, 0]]} in runs
    assert {"t": "L0", "entries": [[1, 0]]} in runs


def test_a_term_is_explained_where_it_first_appears_and_not_again(copy_on_write) -> None:
    marked = [
        (index, run["term"])
        for index, frame in enumerate(copy_on_write["frames"])
        for run in frame["caption"]
        if isinstance(run, dict) and "term" in run
    ]
    terms = [term for _, term in marked]
    assert (2, "copy-on-write") in marked
    assert len(terms) == len(set(terms))


def test_a_name_inside_a_word_is_no_chip() -> None:
    trace = sample.growth()
    frame = replace(trace.frames[0], caption="BBC and P3x are not B and P3.")
    data = view_of(replace(trace, frames=(frame,)))
    words = [run["t"] for run in data["frames"][0]["caption"] if isinstance(run, dict)]
    assert words == ["B", "P3"]


# --- check, execution, waiting, strip -----------------------------------------------------------


def test_a_check_reads_as_question_and_answer(growth) -> None:
    new_block = growth["frames"][6]["check"]
    assert new_block["title"] == "B’s check"
    assert new_block["steps"] == ["1 input", "needs 1 block", "2 free"]
    assert new_block["fits"]
    in_place = growth["frames"][2]["check"]
    assert in_place["steps"] == ["1 input", "1 fits its last block", "needs 0 blocks", "2 free"]


def test_an_execution_is_a_sum_within_a_budget() -> None:
    execution = view_of(sample.reserve())["frames"][3]["execution"]
    assert execution["parts"] == [[0, 1], [1, 6]]
    assert execution["total"] == [7, "input tokens"]
    assert execution["within"]


def test_waiting_requests_are_listed(copy_on_write) -> None:
    assert [frame["waiting"] for frame in copy_on_write["frames"]] == [[]] * 5 + [[2], []]


def test_the_strip_holds_the_whole_capacity() -> None:
    strip = view_of(sample.reserve())["frames"][1]["contiguous"]
    reserved, left = strip["pieces"]
    assert (reserved["start"], reserved["length"], reserved["stored"]) == (0, 20, 6)
    assert reserved["chars"] == list("ROMEO:")
    assert (left["start"], left["length"]) == (20, 4)
    assert strip["sum"] == [
        "one region: 20 reserved + 4 left = ",
        {"t": "capacity 24", "term": "capacity"},
    ]
    assert strip["refused"] == ["C needs 6, 4 left: it must wait"]


# --- evidence -----------------------------------------------------------------------------------


def test_attention_is_the_last_query_of_each_request_in_all_layers_and_heads(growth) -> None:
    views = growth["frames"][1]["attention"]
    assert [(view["r"], view["q"], view["n"]) for view in views] == [(0, 5, 6), (1, 5, 6)]
    for view in views:
        assert [layer["layer"] for layer in view["layers"]] == list(range(sample.LAYERS))
        assert np.shape(view["layers"][0]["paged"]) == (sample.HEADS, 6)


def test_attention_says_which_blocks_are_read_and_which_are_not(growth) -> None:
    view = growth["frames"][-1]["attention"][0]
    assert view["runs"] == [[3, 4], [0, 4], [5, 1]]
    assert view["reads"] == "reads 9 positions in 3 blocks"
    assert view["skipped"] == "not read: P1, P4, 3 empty slots of its own"


def test_dense_weights_are_sent_only_where_they_differ_when_rounded() -> None:
    trace = sample.growth()
    frame = trace.frames[1]
    wrong = replace(frame.attention[0], paged=frame.attention[0].paged + np.float32(0.01))
    broken = replace(trace, frames=(replace(frame, attention=(wrong,)),))
    assert view_of(trace)["frames"][1]["attention"][0]["layers"][0]["dense"] is None
    shown = view_of(broken)["frames"][0]["attention"][0]["layers"][0]
    assert shown["dense"] is not None
    assert shown["dense"] != shown["paged"]


def test_the_runtime_badge_names_the_backend_and_the_largest_error(growth) -> None:
    assert growth["runtime"]["text"] == "Triton interpreter · CPU"
    assert growth["runtime"]["check"] == "dense check ✓ 1.2e-07"


def test_a_dense_check_that_fails_is_not_ticked() -> None:
    trace = sample.growth()
    frame = trace.frames[1]
    wrong = replace(frame.attention[0], max_abs_error_output=0.02)
    data = view_of(replace(trace, frames=(replace(frame, attention=(wrong,)),)))
    assert data["runtime"]["check"] == "dense check ✗ 0.02"
    assert not data["runtime"]["ok"]


@pytest.mark.parametrize("backend", ["triton-cuda", "torch", "something-new"])
def test_every_backend_has_a_badge(backend) -> None:
    trace = sample.growth()
    runtime = replace(trace.runtime, backend=backend, device="cuda", gpu="NVIDIA X")
    assert "NVIDIA X" in view_of(replace(trace, runtime=runtime))["runtime"]["text"]


def test_look_ups_carry_every_number_of_the_arithmetic() -> None:
    entry = view_of(sample.lookups())["frames"][0]["lookup"][6]
    assert entry == {
        "r": 0,
        "position": 6,
        "logical": 1,
        "offset": 2,
        "block": 0,
        "flat": 2,
        "k": "0",
        "v": "0",
        "same": True,
    }


def test_a_worked_score_is_written_out_line_by_line() -> None:
    worked = view_of(sample.lookups())["frames"][1]["worked"]
    assert worked["lines"] == [
        "Q · K = 5.250",
        "5.250 × 0.1768 = 0.9280",
        "e^(0.9280 − 1.500) ÷ 4.200 = 0.1344",
        "the kernel’s weight: 0.1344",
    ]
    assert worked["slot"] == [3, 2]


def test_a_comparison_lists_the_layers() -> None:
    comparison = view_of(sample.lookups())["frames"][2]["comparison"]
    assert comparison["layers"][:2] == [[0, "0", "0"], [1, "0.7", "1.3"]]
    assert comparison["prompts"] == [list("Thus"), list("Chum")]


def test_a_what_if_marks_who_wants_the_slot_and_where_it_fails(copy_on_write) -> None:
    view = copy_on_write["frames"][1]["whatIf"]
    assert view["title"] == "both wrote into P1"
    cells = view["blocks"][0]["cells"]
    assert [cell["wrong"] for cell in cells] == [False, False, True, False]
    assert cells[2]["wanted"] == [0, 1]
    assert cells[2]["wantedTokens"] == ["␣", "a"]


def test_vectors_are_sent_once_as_float16(growth) -> None:
    trace = sample.growth()
    packed = growth["vectors"]
    values = np.frombuffer(base64.b64decode(packed["f16"]), dtype="<f2").reshape(packed["shape"])
    np.testing.assert_allclose(values, trace.vectors, atol=4e-3)
    used = {
        slot["v"] for block in growth["blocks"] for slot in block["slots"] if slot["s"] == "stored"
    }
    assert used == set(range(len(trace.vectors)))


def test_figures_are_short() -> None:
    assert small(0.0) == "0"
    assert small(1.2e-7) == "1.2e-07"
    assert small(0.25) == "0.25"
    assert figure(-2.0) == "−2.000"


def test_words_name_every_value_that_the_browser_fills() -> None:
    used = set(re.findall(r"words\.(\w+)", player_js()))
    assert used <= SCREEN.keys()
