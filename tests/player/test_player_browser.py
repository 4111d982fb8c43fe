"""The player in Chromium, on a page of its own: moving, pointing, presenting, fitting."""

import json

import pytest
import sample
from playwright.sync_api import expect

from pagedkv.player import player_data
from pagedkv.settings import Settings

STEP = "[data-testid=step-label]"


def data_of(name="growth", *arguments):
    return player_data(sample.ALL[name](*arguments), sample.lesson(name))


@pytest.fixture(scope="module")
def growth():
    return data_of("growth")


@pytest.fixture(scope="module")
def copy_on_write():
    return data_of("copy-on-write")


def slot(page, block, offset):
    return page.get_by_test_id(f"slot-P{block}-{offset}")


def expect_step(page, number, count=8):
    expect(page.get_by_test_id("step-label")).to_have_text(f"{number} of {count}")


def is_lit(locator):
    return "lit" in (locator.get_attribute("class") or "").split()


# --- keys ---------------------------------------------------------------------------------------


def test_it_starts_at_the_frame_it_is_told(player, growth) -> None:
    expect_step(player.mount(growth), 1)
    expect_step(player.mount(growth, index=4), 5)
    expect_step(player.mount(growth, index=400), 8)


@pytest.mark.parametrize(
    ("keys", "number"),
    [
        (["ArrowRight"], 2),
        (["ArrowRight", "ArrowRight", "ArrowLeft"], 2),
        (["PageDown", "PageDown"], 3),
        (["PageDown", "PageUp"], 1),
        (["End"], 8),
        (["End", "ArrowRight"], 8),
        (["End", "Home"], 1),
        (["ArrowLeft"], 1),
    ],
)
def test_keys_move(player, growth, keys, number) -> None:
    page = player.mount(growth)
    for key in keys:
        page.keyboard.press(key)
    expect_step(page, number)


def test_five_presses_30_ms_apart_all_arrive(player, growth) -> None:
    page = player.mount(growth)
    for _ in range(5):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(30)
    expect_step(page, 6)


@pytest.mark.parametrize("modifier", ["Control", "Alt", "Meta", "Shift"])
def test_keys_with_a_modifier_are_left_alone(player, growth, modifier) -> None:
    page = player.mount(growth, index=3)
    page.keyboard.press(f"{modifier}+ArrowRight")
    expect_step(page, 4)


@pytest.mark.parametrize(
    "field",
    [
        '<input id="field">',
        '<textarea id="field"></textarea>',
        '<select id="field"><option>1</option><option>2</option></select>',
        '<div id="field" contenteditable="true" tabindex="0">text</div>',
        '<div id="field" role="slider" tabindex="0" aria-valuenow="1">slider</div>',
        '<div role="tablist"><button id="field" role="tab">tab</button></div>',
    ],
    ids=["input", "textarea", "select", "contenteditable", "slider", "tab"],
)
def test_keys_belong_to_a_field_that_has_the_focus(player, growth, field) -> None:
    page = player.mount(growth, extra=field)
    page.locator("#field").focus()
    for key in ("ArrowRight", "p", "End", " "):
        page.keyboard.press(key)
    expect_step(page, 1)
    assert page.evaluate("window.presented") == []


def test_space_plays_and_pauses_at_once(player, growth) -> None:
    page = player.mount(growth)
    page.keyboard.press(" ")
    expect_step(page, 2)
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect_step(page, 2)


def test_space_on_a_focused_button_presses_that_button(player, growth) -> None:
    page = player.mount(growth, index=2)
    page.get_by_role("button", name="Back").focus()
    page.keyboard.press(" ")
    expect_step(page, 2)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_after_a_mouse_click_on_next_the_keys_go_on(player, growth) -> None:
    page = player.mount(growth, extra='<input id="field">')
    page.locator("#field").focus()
    page.get_by_role("button", name="Next").click()
    page.keyboard.press("ArrowRight")
    expect_step(page, 3)
    page.keyboard.press(" ")
    expect_step(page, 4)
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


# --- player bar ---------------------------------------------------------------------------------


def test_buttons_move(player, growth) -> None:
    page = player.mount(growth)
    for name, number in [("Next", 2), ("Last frame", 8), ("Back", 7), ("First frame", 1)]:
        page.get_by_role("button", name=name).click()
        expect_step(page, number)


def test_buttons_at_the_ends_say_that_they_do_nothing(player, growth) -> None:
    page = player.mount(growth)
    back, following = (page.get_by_role("button", name=name) for name in ("Back", "Next"))
    expect(back).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("End")
    expect(following).to_have_attribute("aria-disabled", "true")
    expect(back).not_to_have_attribute("aria-disabled", "true")


def test_it_does_not_play_by_itself(player, growth) -> None:
    page = player.mount(growth)
    page.clock.install()
    page.clock.run_for(60_000)
    expect_step(page, 1)


def test_playing_stops_at_the_end_and_starts_over_from_there(player, growth) -> None:
    player.page.clock.install()
    page = player.mount(growth, index=5)
    page.keyboard.press(" ")
    page.clock.run_for(30_000)
    expect_step(page, 8)
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press(" ")
    expect_step(page, 1)


def test_the_speed_can_be_chosen(player, growth) -> None:
    player.page.clock.install()
    page = player.mount(growth)
    speed = page.get_by_role("button", name="Speed")
    expect(speed).to_have_text("1×")
    page.keyboard.press(" ")
    page.clock.run_for(4100)
    expect_step(page, 2)
    speed.click()
    expect(speed).to_have_text("2×")
    page.clock.run_for(4100)
    expect_step(page, 3)


def test_moving_by_hand_ends_the_playing(player, growth) -> None:
    page = player.mount(growth)
    page.keyboard.press(" ")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect_step(page, 3)


def test_the_scrubber_follows_the_pointer(player, growth) -> None:
    page = player.mount(growth)
    box = page.locator(".track").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 4 / 7, box["y"] + 20)
    page.mouse.down()
    expect_step(page, 5)
    page.mouse.move(box["x"] + box["width"] + 40, box["y"] + 20)
    expect_step(page, 8)
    page.mouse.up()
    page.mouse.move(box["x"], box["y"] + 20)
    expect_step(page, 8)


def test_the_scrubber_is_a_slider_with_a_dot_per_frame(player, growth) -> None:
    page = player.mount(growth)
    scrubber = page.get_by_role("slider", name="Frame")
    scrubber.focus()
    page.keyboard.press("ArrowRight")
    expect(scrubber).to_have_attribute("aria-valuenow", "2")
    expect(scrubber).to_have_attribute("aria-valuemax", "8")
    expect(scrubber).to_have_attribute("aria-valuetext", "2 of 8: Stored")
    assert page.locator(".dot").count() == 8


# --- the host -----------------------------------------------------------------------------------


def test_the_host_hears_once_where_the_learner_settles(player, growth) -> None:
    page = player.mount(growth)
    assert (
        page.evaluate(
            """() => {
          for (let i = 0; i < 3; i += 1) {
            window.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
          }
          return window.settled;
        }"""
        )
        == []
    )
    page.wait_for_function("window.settled.length > 0")
    page.wait_for_timeout(300)
    assert page.evaluate("window.settled") == [3]


def test_equal_data_keeps_the_place_and_the_elements(player, growth) -> None:
    page = player.mount(growth, index=0)
    page.keyboard.press("End")
    page.wait_for_function("window.settled.length > 0")
    page.evaluate("window.board = document.querySelector('.board')")
    page.evaluate("data => player.update(data, { index: 7 })", growth)
    page.evaluate("data => player.update(data)", growth)
    expect_step(page, 8)
    assert page.evaluate("window.board === document.querySelector('.board')")


def test_an_echo_from_the_host_does_not_pull_the_learner_back(player, growth) -> None:
    page = player.mount(growth, index=2)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("window.settled.length > 0")
    page.evaluate(
        """data => {
          window.dispatchEvent(new KeyboardEvent('keydown', { key: 'End' }));
          player.update(data, { index: 3 });
        }""",
        growth,
    )
    expect_step(page, 8)
    page.evaluate("data => player.update(data, { index: 6 })", growth)
    expect_step(page, 7)


def test_new_data_replaces_the_lesson_in_one_go(player, growth, copy_on_write) -> None:
    page = player.mount(growth, index=7)
    blank = page.evaluate(
        """data => new Promise((done) => {
          const player = document.querySelector('[data-testid=player]');
          const seen = [];
          new MutationObserver(() => seen.push(player.childElementCount)).observe(
            player, { childList: true });
          window.player.update(data);
          setTimeout(() => done(seen.includes(0)), 50);
        })""",
        copy_on_write,
    )
    assert not blank
    expect_step(page, 7, 7)
    expect(page.get_by_test_id("table-D-L0")).to_have_attribute("data-block", "0")


def renumbered(data):
    """The same lesson with its blocks and groups listed backwards, and none of its frames lost."""
    last_block, last_group = len(data["blocks"]) - 1, len(data["groups"]) - 1
    frames = [
        {
            **frame,
            "blocks": [last_block - place for place in frame["blocks"]],
            "groups": [
                last_group - place if isinstance(place, int) else place for place in frame["groups"]
            ],
        }
        for frame in data["frames"]
    ]
    blocks, groups = data["blocks"][::-1], data["groups"][::-1]
    return {**data, "key": "backwards", "blocks": blocks, "groups": groups, "frames": frames}


@pytest.mark.parametrize("name", ["growth", "copy-on-write"])
def test_more_frames_on_the_same_board_are_as_if_mounted_anew(player, name) -> None:
    whole = data_of(name)
    page = player.mount(whole, index=len(whole["frames"]) - 1)
    anew = what_is_seen(page)
    beginning = {**whole, "key": "beginning", "frames": whole["frames"][:3]}
    page = player.mount(beginning, index=2)
    page.evaluate("window.board = document.querySelector('.board')")
    last = len(whole["frames"]) - 1
    page.evaluate("([data, index]) => player.update(data, { index })", [renumbered(whole), last])
    assert page.evaluate("window.board === document.querySelector('.board')")
    assert what_is_seen(page) == anew


def what_is_seen(page):
    """The board as it stands in the document, and all text beside it."""
    return page.get_by_test_id("board").inner_html(), page.get_by_test_id("player").inner_text()


def test_another_board_is_built_anew(player, growth) -> None:
    page = player.mount(growth)
    page.evaluate("window.board = document.querySelector('.board')")
    other = data_of("growth", Settings(block_size=5))
    page.evaluate("data => player.update(data)", other)
    assert page.evaluate("window.board !== document.querySelector('.board')")


def test_a_player_that_is_gone_hears_no_keys(player, growth) -> None:
    page = player.mount(growth)
    page.evaluate("player.destroy()")
    assert page.get_by_test_id("player").count() == 0
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)
    assert page.evaluate("window.settled") == []


def test_it_works_inside_a_shadow_root(player, growth) -> None:
    page = player.mount(growth, shadow=True)
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)
    page.get_by_role("button", name="Next").click()
    expect_step(page, 3)
    slot(page, 3, 1).hover()
    assert is_lit(page.get_by_test_id("table-B-L0"))


# --- the board ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sample.ALL)
def test_every_slot_and_entry_is_as_in_the_trace(player, name) -> None:
    trace = sample.ALL[name]()
    page = player.mount(data_of(name))
    for frame in trace.frames:
        shown = page.evaluate(
            """() => ({
              slots: [...document.querySelectorAll('[data-testid^=slot-P]')].map(({ dataset }) => [
                dataset.testid, dataset.state, dataset.owners, dataset.position]),
              tables: [...document.querySelectorAll('[data-testid^=table-]')].map((node) => [
                node.dataset.testid, node.dataset.block]),
              pending: [...document.querySelectorAll('[data-testid^=pending-]')].map((node) => [
                node.dataset.testid, node.firstChild.textContent]),
              waiting: [...document.querySelectorAll('[data-testid^=waiting-]')].map(
                (node) => node.dataset.testid),
            })"""
        )
        assert shown["slots"] == expected_slots(frame)
        assert sorted(shown["tables"]) == sorted(expected_tables(frame))
        assert sorted(shown["pending"]) == sorted(expected_pending(frame))
        assert shown["waiting"] == [f"waiting-{name}" for name in frame.state.waiting]
        page.keyboard.press("ArrowRight")


def expected_slots(frame):
    return [
        [
            f"slot-P{block.block_id}-{offset}",
            slot.state,
            " ".join(slot.owners),
            "" if slot.position is None else str(slot.position),
        ]
        for block in frame.state.blocks
        for offset, slot in enumerate(block.slots)
    ]


def expected_tables(frame):
    return [
        [f"table-{request.name}-L{i}", str(block)]
        for request in frame.state.requests
        for i, block in enumerate(request.block_table)
    ]


def expected_pending(frame):
    visible = {" ": "␣", "\n": "↵"}
    return [
        [f"pending-{request.name}", visible.get(request.pending_token, request.pending_token)]
        for request in frame.state.requests
        if request.pending_token is not None
    ]


def test_the_pending_token_lies_outside_all_blocks(player, growth) -> None:
    page = player.mount(growth, index=1)
    pending = page.get_by_test_id("pending-B")
    expect(pending).to_contain_text("next input · no KV yet")
    assert pending.evaluate("node => node.closest('.row, .card, .cells')") is None


def test_ref_counts_and_owners_stand_on_every_block_in_use(player, copy_on_write) -> None:
    page = player.mount(copy_on_write, index=2)
    expect(page.get_by_test_id("refcount-P1")).to_have_text("ref 2 → 1")
    expect(page.get_by_role("group", name="P0: ref count 2")).to_contain_text("R1·L0")
    expect(page.get_by_role("group", name="P0: ref count 2")).to_contain_text("R2·L0")


def test_a_curve_leads_from_every_entry_to_its_block(player, growth) -> None:
    page = player.mount(growth, index=1)
    curves = page.locator("path.curve[d]")
    assert curves.count() == 4
    for request, logical, block in [("B", 0, 3), ("B", 1, 0), ("C", 0, 1), ("C", 1, 4)]:
        ends = page.evaluate(
            """([entry, block]) => {
              const find = (id) => document.querySelector(`[data-testid="${id}"]`);
              const from = find(entry).getBoundingClientRect();
              const card = find(`refcount-P${block}`).closest('.card');
              const to = card.querySelector('.block-label').getBoundingClientRect();
              return [from.right, from.top + from.height / 2, to.left, to.top + to.height / 2];
            }""",
            [f"table-{request}-L{logical}", block],
        )
        assert any(joins(path, ends) for path in curve_ends(page))


def curve_ends(page):
    return page.evaluate(
        """() => [...document.querySelectorAll('path.curve[d]')].map((path) => {
          const box = path.ownerSVGElement.getBoundingClientRect();
          const [from, to] = [0, path.getTotalLength()].map((at) => path.getPointAtLength(at));
          return [from.x + box.left, from.y + box.top, to.x + box.left, to.y + box.top];
        })"""
    )


def joins(path, ends):
    return all(abs(a - b) < 6 for a, b in zip(path, ends, strict=True))


def test_requests_keep_their_place_while_others_grow(player, growth) -> None:
    page = player.mount(growth, index=1)
    entry = page.get_by_test_id("table-C-L0")
    before = entry.bounding_box()
    page.keyboard.press("End")
    assert entry.bounding_box() == before


def test_the_strip_shows_the_reservation_and_who_did_not_fit(player) -> None:
    page = player.mount(data_of("reserve-or-allocate"), index=1)
    reservation = page.get_by_test_id("reservation-B")
    expect(reservation).to_have_attribute("data-reserved", "20")
    expect(reservation).to_contain_text("6 stored")
    expect(page.get_by_test_id("board")).to_contain_text("C needs 6, 4 left: it must wait")
    expect(page.get_by_test_id("waiting-C")).to_be_visible()


def test_the_legend_shows_only_the_states_on_screen(player, copy_on_write) -> None:
    page = player.mount(copy_on_write, index=0)
    legend = page.get_by_role("list", name="Legend")
    expect(legend).to_contain_text("shared")
    expect(legend).not_to_contain_text("old bytes")
    page.keyboard.press("End")
    expect(legend).to_contain_text("old bytes")
    expect(legend).not_to_contain_text("shared")


def test_no_block_at_all_is_said_in_words(player) -> None:
    page = player.mount(data_of("growth", Settings(block_size=32, capacity=4)))
    expect(page.get_by_test_id("board")).to_contain_text("No block at all")
    expect(page.get_by_role("note")).to_contain_text("No block fits")


def test_256_blocks_are_all_there(player) -> None:
    settings = Settings(block_size=1, capacity=256, prompt_length=64)
    page = player.mount(data_of("growth", settings))
    assert page.locator("[data-testid^=slot-P]").count() == 256
    page.keyboard.press("End")
    expect(slot(page, 130, 0)).to_be_in_viewport()
    size = slot(page, 130, 0).evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
    assert size >= 20


def test_hostile_text_stays_text(player) -> None:
    evil = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'
    text = json.dumps(data_of("copy-on-write")).replace("R1", evil.replace('"', '\\"'))
    data = json.loads(text)
    data["words"] = {**data["words"], "next": evil}
    data["infeasible"] = evil
    page = player.mount(data)
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    slot(page, 0, 0).hover()
    assert page.evaluate("window.hit") is None
    assert page.locator("[data-testid=player] :is(img, script)").count() == 0
    expect(page.get_by_role("note")).to_have_text(evil)


# --- captions, ledger, panels -------------------------------------------------------------------


def test_the_caption_is_announced_politely(player, growth) -> None:
    page = player.mount(growth, index=1)
    caption = page.get_by_test_id("caption")
    expect(caption).to_contain_text("One execution stored the K and V of both prompts.")
    assert caption.evaluate("node => node.closest('[aria-live=polite]') !== null")


def test_the_ledger_adds_up_on_screen(player, growth) -> None:
    page = player.mount(growth, index=7)
    ledger = page.get_by_test_id("ledger")
    expect(ledger).to_contain_text("1 free + 5 in use = 6 blocks")
    expect(ledger).to_contain_text("15 stored + 5 empty = 20 allocated slots")


def test_check_and_execution_stand_beside_the_board(player, growth) -> None:
    page = player.mount(growth, index=6)
    expect(page.locator(".check")).to_contain_text("1 input · needs 1 block · 2 free · ✓ fits")
    expect(page.locator(".execution")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".execution")).to_contain_text("B 1 input token")
    expect(page.locator(".check")).to_be_hidden()


def test_a_what_if_is_marked_and_apart_from_the_board(player, copy_on_write) -> None:
    page = player.mount(copy_on_write, index=1)
    strip = page.get_by_test_id("what-if")
    expect(strip).to_contain_text("If")
    expect(strip.locator(".wrong")).to_have_count(1)
    assert strip.evaluate("node => node.closest('[data-testid=board]')") is None


def test_the_look_up_starts_at_the_last_position_and_any_can_be_chosen(player) -> None:
    page = player.mount(data_of("block-table"))
    panel = page.get_by_test_id("lookup")
    expect(panel).to_contain_text("6 ÷ 4 = 1 remainder 2 → L1, offset 2")
    expect(panel).to_contain_text("P0, slot 2 (P0 × 4 + 2 = slot 2 of the pool)")
    expect(panel).to_contain_text("K and V there equal the dense copy’s ✓")
    slot(page, 4, 1).click()
    expect(panel).to_contain_text("5 ÷ 4 = 1 remainder 1")
    expect(panel).to_contain_text("C’s table: L1 → P4")
    panel.get_by_role("button", name="Earlier position").click()
    expect(panel).to_contain_text("4 ÷ 4 = 1 remainder 0")


def test_terms_are_explained_on_hover_and_focus(player, growth) -> None:
    page = player.mount(growth)
    tip = page.get_by_role("tooltip")
    expect(tip).to_be_hidden()
    page.locator("dfn", has_text="Logical").hover()
    expect(tip).to_contain_text("counted in its request's own order")
    page.mouse.move(5, 790)
    expect(tip).to_be_hidden()
    page.locator("dfn", has_text="Physical").focus()
    expect(tip).to_contain_text("counted by its place in the pool")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


# --- pointing -----------------------------------------------------------------------------------


def test_pointing_at_a_slot_lights_its_cell_entry_curve_and_bar(player, growth) -> None:
    page = player.mount(growth, index=1)
    slot(page, 0, 1).hover()
    assert is_lit(slot(page, 0, 1))
    assert is_lit(page.get_by_test_id("table-B-L1"))
    assert is_lit(page.get_by_test_id("weight-5"))
    assert page.locator("path.curve.lit").count() == 1
    assert page.locator(".cell.lit").count() == 1
    page.mouse.move(640, 790)
    assert page.locator(".lit").count() == 0


def test_pointing_at_a_bar_lights_its_slot_and_entry(player, growth) -> None:
    page = player.mount(growth, index=1)
    page.get_by_test_id("weight-2").hover()
    assert is_lit(slot(page, 3, 2))
    assert is_lit(page.get_by_test_id("table-B-L0"))
    assert not is_lit(slot(page, 1, 2))


def test_a_block_in_the_caption_lights_the_block(player, growth) -> None:
    page = player.mount(growth, index=1)
    page.get_by_test_id("caption").get_by_role("button", name="P3").hover()
    assert is_lit(page.locator(".card").nth(3))
    assert is_lit(page.get_by_test_id("table-B-L0"))


def test_a_request_in_the_caption_lights_its_entries_and_blocks(player, growth) -> None:
    page = player.mount(growth, index=1)
    page.get_by_test_id("caption").get_by_role("button", name="B", exact=True).focus()
    assert is_lit(page.get_by_test_id("table-B-L0"))
    assert is_lit(page.get_by_test_id("table-B-L1"))
    assert is_lit(page.locator(".card").nth(0))
    assert not is_lit(page.get_by_test_id("table-C-L0"))


def test_a_pointed_slot_shows_its_real_k_and_v(player, growth) -> None:
    trace = sample.growth()
    page = player.mount(growth, index=1)
    slot(page, 3, 2).hover()
    panel = page.get_by_test_id("slot-values")
    expect(panel).to_contain_text("P3 slot 2: B position 2, M")
    vector = trace.vectors[trace.frames[1].vector_ids[3][2]]
    start, kv_heads = growth["heads"]["start"], growth["heads"]["kv_heads"]
    kv_head = start["head"] // (growth["heads"]["heads"] // kv_heads)
    expect(panel).to_contain_text(first_figures(vector[0, start["layer"], kv_head]))
    panel.get_by_role("button", name="layer 3").click()
    panel.get_by_role("button", name="KV head 1").click()
    expect(panel).to_contain_text(first_figures(vector[0, 3, 1]))
    expect(panel).to_contain_text(first_figures(vector[1, 3, 1]))


def first_figures(values):
    return "  ".join(f"{float(value):.2f}" for value in values[:4]).replace("-", "−")


def test_slots_can_be_visited_without_a_pointer(player, growth) -> None:
    page = player.mount(growth, index=1)
    panel = page.get_by_test_id("slot-values")
    expect(panel).to_contain_text("P0 slot 0")
    panel.get_by_role("button", name="Slot after").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(panel).to_contain_text("P1 slot 0")
    assert is_lit(slot(page, 1, 0))


# --- attention ----------------------------------------------------------------------------------


def test_bars_are_the_kernel_and_markers_the_dense_reference(player, growth) -> None:
    page = player.mount(growth, index=7)
    trace = sample.growth()
    layer, head = (growth["heads"]["start"][what] for what in ("layer", "head"))
    own = [view for view in trace.frames[7].attention if view.request == "B"]
    weights = next(view for view in own if view.layer == layer).paged[head]
    for position, weight in enumerate(weights):
        bar = page.get_by_test_id(f"weight-{position}")
        assert abs(float(bar.get_attribute("data-value")) - weight) < 1e-4
        heights = bar.evaluate(
            """node => {
              const column = node.querySelector('.column').clientHeight;
              const bar = node.querySelector('.bar').getBoundingClientRect();
              const marker = node.querySelector('.marker').getBoundingClientRect();
              return [bar.height / column, bar.top - (marker.top + marker.height / 2)];
            }"""
        )
        assert abs(heights[0] - weight) < 0.04
        assert abs(heights[1]) < 3
    expect(page.get_by_test_id("max-error")).to_contain_text("weights 1.2e-07, output 6.1e-08")


def test_a_wrong_weight_is_seen_apart_from_its_marker(player, growth) -> None:
    data = json.loads(json.dumps(growth))
    start = data["heads"]["start"]
    layer = data["frames"][1]["attention"][0]["layers"][start["layer"]]
    layer["dense"] = json.loads(json.dumps(layer["paged"]))
    layer["dense"][start["head"]][2] = 0.9
    layer["paged"][start["head"]][2] = 0.1
    page = player.mount(data, index=1)
    bar = page.get_by_test_id("weight-2")
    distance = bar.evaluate(
        """node => node.querySelector('.bar').getBoundingClientRect().top
             - node.querySelector('.marker').getBoundingClientRect().top"""
    )
    assert distance > 40


def test_layer_head_and_request_can_be_chosen(player, growth) -> None:
    page = player.mount(growth, index=1)
    strip = page.get_by_test_id("attention")
    attention = growth["frames"][1]["attention"]
    strip.get_by_role("button", name="layer 2").click()
    strip.get_by_role("button", name="head 3").click()
    strip.get_by_role("button", name="request C").click()
    value = page.get_by_test_id("weight-4").get_attribute("data-value")
    assert float(value) == attention[1]["layers"][2]["paged"][3][4]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.get_by_test_id("weight-4").get_attribute("data-value") == value


def test_a_choice_by_keyboard_keeps_the_focus(player, growth) -> None:
    page = player.mount(growth, index=1)
    chosen = page.get_by_test_id("attention").get_by_role("button", name="layer 1")
    chosen.focus()
    page.keyboard.press("Enter")
    expect(chosen).to_be_focused()
    expect(chosen).to_have_attribute("aria-pressed", "true")


def test_bars_are_bracketed_by_block(player, growth) -> None:
    page = player.mount(growth, index=7)
    assert page.locator(".bracket").all_inner_texts() == ["P3 · 4", "P0 · 4", "P5 · 1"]


def test_frames_without_attention_say_so(player, growth) -> None:
    page = player.mount(growth, index=0)
    expect(page.get_by_test_id("attention")).to_contain_text("No query attends in this frame.")
    assert page.locator("[data-testid^=weight-]").count() == 0


# --- presenting ---------------------------------------------------------------------------------


def test_p_presents_board_caption_and_player_only(player, growth) -> None:
    page = player.mount(growth, index=7)
    page.keyboard.press("p")
    box = page.get_by_test_id("player").bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 1280, 800)
    for shown in ("board", "caption", "step-label"):
        expect(page.get_by_test_id(shown)).to_be_visible()
    for hidden in ("ledger", "attention", "slot-values", "runtime"):
        expect(page.get_by_test_id(hidden)).to_be_hidden()
    assert page.evaluate("window.presented") == [True]
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("ledger")).to_be_visible()
    assert page.evaluate("window.presented") == [True, False]


@pytest.mark.parametrize("name", sample.ALL)
def test_everything_presented_is_at_least_24_px_and_fits(player, name) -> None:
    player.page.set_viewport_size({"width": 1280, "height": 720})
    data = data_of(name)
    page = player.mount(data, present=True)
    for _ in data["frames"]:
        assert smallest_text(page, "[data-testid=player]") >= 24
        assert page.get_by_test_id("board").evaluate("n => n.scrollHeight - n.clientHeight") <= 1
        bottom = page.get_by_test_id("caption").evaluate("n => n.getBoundingClientRect().bottom")
        assert bottom <= 720
        page.keyboard.press("ArrowRight")


@pytest.mark.parametrize(
    "settings",
    [Settings(16, 256, 20), Settings(32, 256, 31), Settings(8, 64, 6)],
    ids=["wide", "wider-than-the-window", "blocks-of-two-lines"],
)
def test_a_presented_what_if_leaves_the_board_its_room(player, settings) -> None:
    player.page.set_viewport_size({"width": 1280, "height": 720})
    data = data_of("copy-on-write", settings)
    for frame in data["frames"]:
        if frame["whatIf"]:
            frame["whatIf"]["title"] = "R1 and R2 both wrote their own token into the shared block"
    page = player.mount(data, present=True)
    for frame in data["frames"]:
        assert page.get_by_test_id("board").evaluate("n => n.scrollHeight - n.clientHeight") <= 0
        if frame["whatIf"]:
            assert page.get_by_test_id("what-if").evaluate("n => n.scrollWidth <= n.clientWidth")
            expect(page.locator(".what-if-cell.wrong").first).to_be_in_viewport(ratio=1)
        page.keyboard.press("ArrowRight")


def test_a_presentation_covers_the_page_even_below_a_transform(player, growth) -> None:
    page = player.mount(growth)
    page.evaluate("document.getElementById('root').style.transform = 'translateX(90px)'")
    page.keyboard.press("P")
    box = page.get_by_test_id("player").bounding_box()
    assert (box["x"], box["y"], box["width"]) == (0, 0, 1280)


# --- fitting ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sample.ALL)
def test_board_caption_and_ledger_fit_a_window_of_640(player, name) -> None:
    player.page.set_viewport_size({"width": 1280, "height": 640})
    data = data_of(name)
    page = player.mount(data)
    page.evaluate("document.getElementById('root').style.marginTop = '165px'")
    for _ in data["frames"]:
        for part in ("board", "caption", "ledger"):
            box = page.get_by_test_id(part).bounding_box()
            assert box["y"] + box["height"] <= 640, part
        page.keyboard.press("ArrowRight")


@pytest.mark.parametrize("size", [(1280, 800), (1024, 768), (390, 800)])
@pytest.mark.parametrize("name", sample.ALL)
def test_no_window_scrolls_sideways(player, name, size) -> None:
    player.page.set_viewport_size({"width": size[0], "height": size[1]})
    data = data_of(name)
    page = player.mount(data)
    for _ in data["frames"]:
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        page.keyboard.press("ArrowRight")


@pytest.mark.parametrize(
    ("block_size", "capacity", "prompt_length"),
    [(1, 256, 64), (32, 256, 64), (32, 24, 6), (5, 24, 6), (8, 64, 20), (3, 40, 7)],
)
@pytest.mark.parametrize("width", [1280, 390])
def test_no_settings_scroll_sideways(player, width, block_size, capacity, prompt_length) -> None:
    player.page.set_viewport_size({"width": width, "height": 800})
    settings = Settings(block_size, capacity, prompt_length)
    page = player.mount(data_of("growth", settings), index=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_touch_targets_are_large_on_a_phone(player, growth) -> None:
    player.page.set_viewport_size({"width": 390, "height": 800})
    page = player.mount(growth, index=1)
    for control in page.locator("[data-testid=player] button:visible").all():
        box = control.bounding_box()
        assert min(box["width"], box["height"]) >= 40, control.inner_text()
    assert page.get_by_role("slider").bounding_box()["height"] >= 40


def test_on_a_phone_the_logical_view_is_above_the_pool(player, growth) -> None:
    player.page.set_viewport_size({"width": 390, "height": 800})
    page = player.mount(growth, index=1)
    logical = page.get_by_role("region", name="Logical").bounding_box()
    pool = page.get_by_role("region", name="Physical").bounding_box()
    assert logical["y"] + logical["height"] <= pool["y"]


@pytest.mark.parametrize("name", sample.ALL)
def test_type_is_large_enough(player, name) -> None:
    data = data_of(name)
    page = player.mount(data)
    for _ in data["frames"]:
        assert smallest_text(page, "[data-testid=player]") >= 14
        assert smallest_text(page, ".slot .char, .cell .char") >= 20
        assert smallest_text(page, "[data-testid=caption]") >= 18
        page.keyboard.press("ArrowRight")


def smallest_text(page, selector):
    """The smallest computed font size among visible elements that hold text of their own."""
    return page.evaluate(
        """(selector) => {
          const roots = [...document.querySelectorAll(selector)];
          const nodes = roots.flatMap((root) => [root, ...root.querySelectorAll('*')]);
          const sizes = nodes.filter((node) => node.checkVisibility({ visibilityProperty: true })
              && [...node.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()))
            .map((node) => parseFloat(getComputedStyle(node).fontSize));
          return Math.min(...sizes);
        }""",
        selector,
    )


# --- themes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", sample.ALL)
def test_text_has_a_contrast_of_at_least_4_5(player, name, theme) -> None:
    data = data_of(name)
    page = player.mount(data, theme=theme)
    page.evaluate(
        "document.body.style.background = getComputedStyle(document.querySelector("
        "'[data-testid=player]')).backgroundColor"
    )
    for index in range(len(data["frames"])):
        assert page.evaluate(LOW_CONTRAST) == [], f"frame {index}"
        page.keyboard.press("ArrowRight")


# Text colour against the colours behind it; pictures (hatches) count with each of their colours.
LOW_CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const luminance = (rgb) => {
    const parts = rgb.slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const contrast = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const colours = /(?:rgba?|color|oklab|oklch|color-mix)\\([^()]*\\)/g;
  const seen = (colour) => colour[3] > 0.5;
  const behind = (node) => {
    const found = [];
    for (let at = node; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      found.push(...(style.backgroundImage.match(colours) || []).map(rgba).filter(seen));
      const colour = rgba(style.backgroundColor);
      if (colour[3] > 0.99) return [...found, colour];
    }
    return [...found, [255, 255, 255, 1]];
  };
  const low = [];
  for (const node of document.querySelectorAll('[data-testid=player] *')) {
    const own = [...node.childNodes].filter((child) => child.nodeType === 3);
    const text = own.map((child) => child.textContent).join('').trim();
    if (!text || !node.checkVisibility({ visibilityProperty: true })) continue;
    if (node.closest('[aria-disabled=true]')) continue;
    const colour = rgba(getComputedStyle(node).color);
    const worst = Math.min(...behind(node).map((back) => contrast(colour, back)));
    if (worst < 4.5) low.push([node.className, text, worst.toFixed(2)]);
  }
  return low;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_boundaries_that_carry_meaning_have_a_contrast_of_at_least_3(player, theme) -> None:
    page = player.mount(data_of("copy-on-write"), theme=theme)
    low = page.evaluate(
        """() => {
          const parse = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
          const luminance = (rgb) => {
            const [r, g, b] = rgb.map((v) => v / 255)
              .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const player = document.querySelector('[data-testid=player]');
          const back = luminance(parse(getComputedStyle(player).backgroundColor));
          const low = [];
          const probe = player.appendChild(document.createElement('div'));
          for (let own = 0; own < 6; own += 1) {
            probe.className = `own-${own}`;
            probe.style.color = 'var(--own-edge)';
            const edge = luminance(parse(getComputedStyle(probe).color));
            const ratio = (Math.max(edge, back) + 0.05) / (Math.min(edge, back) + 0.05);
            if (ratio < 3) low.push([own, ratio]);
          }
          probe.style.color = 'var(--edge-line)';
          const line = luminance(parse(getComputedStyle(probe).color));
          if ((Math.max(line, back) + 0.05) / (Math.min(line, back) + 0.05) < 3) low.push('line');
          probe.remove();
          return low;
        }"""
    )
    assert low == []


def test_the_theme_follows_the_page_it_is_in(player, growth) -> None:
    page = player.mount(growth, theme="auto")
    expect(page.get_by_test_id("player")).to_have_attribute("data-theme", "light")
    page.evaluate("document.documentElement.style.setProperty('--st-background-color', '#0e1117')")
    page.evaluate("data => player.update(data)", growth)
    expect(page.get_by_test_id("player")).to_have_attribute("data-theme", "dark")


def test_states_differ_by_more_than_colour(player, copy_on_write) -> None:
    page = player.mount(copy_on_write, index=6)
    looks = page.evaluate(
        """() => Object.fromEntries(['free', 'stale', 'stored'].map((state) => {
          const node = document.querySelector(`.slot[data-state=${state}]`);
          const style = getComputedStyle(node);
          const line = getComputedStyle(node.querySelector('.char')).textDecorationLine;
          return [state, `${style.borderTopStyle} ${line}`];
        }))"""
    )
    assert looks == {"free": "dotted none", "stale": "dotted line-through", "stored": "solid none"}
    now = slot(page, 0, 0).evaluate("node => getComputedStyle(node).outlineStyle")
    assert now == "solid"


def test_empty_and_shared_slots_are_told_by_more_than_colour(player, copy_on_write) -> None:
    page = player.mount(copy_on_write, index=1)
    border, background = "borderTopStyle", "backgroundImage"
    look = "(node, name) => getComputedStyle(node)[name]"
    empty = page.locator(".slot[data-state=empty]").first
    assert (empty.evaluate(look, border), empty.evaluate(look, background)) == ("dashed", "none")
    shared = page.locator(".slot[data-state=stored][data-owners='R1 R2']").first
    assert shared.evaluate(look, border) == "solid"
    assert "repeating-linear-gradient" in shared.evaluate(look, background)
    own = player.mount(copy_on_write, index=3).locator(".slot[data-state=stored][data-owners=R1]")
    assert "none" in own.first.evaluate(look, background)
    tags = page.locator(".card", has=page.locator("[data-owners='R1 R2']")).first.locator(".tag")
    assert tags.all_inner_texts() == ["R1·L0", "R2·L0"]


def test_nothing_moves_by_itself(player, growth) -> None:
    page = player.mount(growth, index=1)
    page.keyboard.press("ArrowRight")
    moving = page.evaluate("document.getAnimations().length")
    durations = page.evaluate(
        """() => [...document.querySelectorAll('[data-testid=player] *')].map(
          (node) => getComputedStyle(node).transitionDuration)"""
    )
    assert moving == 0
    assert set(durations) == {"0s"}


def test_everything_that_can_be_focused_shows_it(player, growth) -> None:
    page = player.mount(growth, index=1)
    for _ in range(40):
        page.keyboard.press("Tab")
        outline = page.evaluate(
            """() => {
              const node = document.activeElement;
              return node === document.body ? 'none'
                : `${getComputedStyle(node).outlineStyle} ${getComputedStyle(node).outlineWidth}`;
            }"""
        )
        if outline == "none":
            return
        assert outline == "solid 3px"


def test_a_weight_that_is_no_number_is_drawn_as_such(player):
    data = player_data(sample.growth(), sample.lesson())
    frame = next(n for n, frame in enumerate(data["frames"]) if frame["attention"])
    for layer in data["frames"][frame]["attention"][0]["layers"]:
        layer["paged"] = [[None, *weights[1:]] for weights in layer["paged"]]
        layer["dense"] = layer["dense"] or layer["paged"]
    page = player.mount(data, index=frame)
    bar = page.get_by_test_id("weight-0")
    assert "nan" in bar.inner_text()
    assert "nan" in str(bar.get_attribute("aria-label"))
    assert player.errors == []


def test_in_the_presentation_tab_goes_round_and_keys_behind_it_do_nothing(player) -> None:
    page = player.mount(data_of(), extra='<input id="behind" type="range" role="slider">')
    page.evaluate("data => window.player.update(data, { present: true })", data_of())
    for _ in range(40):
        page.keyboard.press("Tab")
        inside = "document.activeElement.closest('.pagedkv-player') !== null"
        assert page.evaluate(inside)
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(inside)
    page.evaluate("document.getElementById('behind').focus()")
    page.keyboard.press("PageDown")
    expect_step(page, 2)
