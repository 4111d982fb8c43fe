"""The sandbox page without a browser: what its widgets do, and what it makes of bad addresses."""

import base64
import json

import pytest
from app_pages import Open, go_to, sent_to_player
from streamlit.testing.v1 import AppTest

from pagedkv.sandbox.actions import DecodeToken, EngineStep, Fork, NewRequest
from pagedkv.sandbox.as_link import read_link, to_link
from pagedkv.sandbox.script import MAX_ACTIONS, Pool, Script
from pagedkv.sandbox.starts import STARTS

SIX = NewRequest("ROMEO:")


def click(app: AppTest, label: str) -> AppTest:
    (button,) = (button for button in app.button if button.label == label)
    assert not button.disabled
    return button.click().run()


def titles(app: AppTest) -> list[str]:
    return [frame["title"] for frame in sent_to_player(app)["lesson"]["frames"]]


def said(app: AppTest) -> list[str]:
    """The news that are on the page: a head, and perhaps a text."""
    now = app.session_state["sandbox_notice"]
    shown = [element.value for element in (*app.warning, *app.text)]
    return [text for text in ((now.head, now.text) if now else ()) if text in shown and text]


def shared(app: AppTest) -> Script:
    query = sent_to_player(app)["address"]["settings"]
    return read_link(query["s"]) if query else Script()


def test_each_action_adds_a_frame_and_opens_it(open_page: Open):
    app = open_page("sandbox")
    assert titles(app) == ["An empty pool"]
    for count, label in enumerate(
        ("New request", "Fork", "Decode one token", "One engine step"), 1
    ):
        before = sent_to_player(app)["arrival"]["number"]
        click(app, label)
        assert len(titles(app)) == count + 1
        arrival = sent_to_player(app)["arrival"]
        assert arrival["index"] == count and arrival["number"] != before
    assert titles(app)[1:3] == ["R1 comes in", "R2 starts from R1"]
    assert not app.exception


def test_what_will_be_checked_stands_below_each_button(open_page: Open):
    app = click(open_page("sandbox"), "New request")
    said = "\n".join(text.value for text in app.text)
    assert "needs 2 blocks, 4 are free" in said
    assert "R1 has 2 empty slots in P1: needs no block" in said
    assert "R1 gives back 2 blocks" in said
    app.text_input(key="sandbox_prompt").set_value("a" * 17).run()
    said = "\n".join(text.value for text in app.text)
    assert "needs 5 blocks, 4 are free: it will wait" in said


def test_undo_and_redo(open_page: Open):
    app = click(click(open_page("sandbox"), "New request"), "Fork")
    click(app, "Undo")
    assert titles(app) == ["An empty pool", "R1 comes in"]
    click(app, "Redo")
    assert titles(app)[-1] == "R2 starts from R1"
    click(click(app, "Undo"), "One engine step")
    assert [button.disabled for button in app.button if button.label == "Redo"] == [True]


def test_a_typed_token_is_processed(open_page: Open):
    app = click(open_page("sandbox"), "New request")
    app.text_input(key="sandbox_token").set_value("Z").run()
    click(app, "Decode one token")
    caption = sent_to_player(app)["lesson"]["frames"][-1]["caption"]
    assert "“Z”" in json.dumps(caption, ensure_ascii=False)


def test_a_line_break_can_be_typed(open_page: Open):
    app = open_page("sandbox")
    app.text_input(key="sandbox_prompt").set_value("To\\nbe↵").run()
    click(app, "New request")
    app.text_input(key="sandbox_token").set_value("\\n").run()
    click(app, "Decode one token")
    assert shared(app).actions == (NewRequest("To\nbe\n"), DecodeToken(1, "\n"))


def test_what_the_model_does_not_know_is_named_and_nothing_is_lost(open_page: Open):
    app = click(open_page("sandbox"), "New request")
    app.text_input(key="sandbox_prompt").set_value("<b>7</b>").run()
    click(app, "New request")
    assert said(app)[0] == "Nothing was done"
    assert said(app)[1].startswith("action 2: text has characters outside")
    assert len(titles(app)) == 2
    assert app.text_input(key="sandbox_prompt").value == "<b>7</b>"
    click(app, "One engine step")
    assert not app.warning and len(titles(app)) == 3


def test_another_pool_does_the_same_actions(open_page: Open):
    app = click(click(open_page("sandbox"), "New request"), "New request")
    app.slider(key="sandbox_capacity").set_value(8).run()
    assert titles(app)[-1] == "R2 has to wait"
    app.selectbox(key="sandbox_free_order").set_value("scattered").run()
    app.slider(key="sandbox_block_size").set_value(3).run()
    assert shared(app) == Script(Pool(3, 8, "scattered"), (SIX, SIX))


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.title)
def test_every_ready_made_start_opens(open_page: Open, start):
    app = open_page("sandbox")
    app.selectbox(key="sandbox_start").set_value(start.title).run()
    assert shared(app) == start.script
    assert len(titles(app)) == len(start.script.actions) + 1
    assert not app.exception


def test_a_link_opens_the_session_at_its_step(open_page: Open):
    script = Script(Pool(3, 30, "scattered"), (SIX, Fork(1), EngineStep()))
    app = open_page("sandbox", s=to_link(script), step="1")
    assert shared(app) == script
    assert sent_to_player(app)["arrival"]["index"] == 1
    assert app.slider(key="sandbox_block_size").value == 3
    assert not app.warning
    late = open_page("sandbox", s=to_link(script), step="9")
    assert sent_to_player(late)["arrival"]["index"] == 3
    assert "step is 9" in late.warning[0].value


@pytest.mark.parametrize(
    "word", ["", "x", "<script>alert(1)</script>", "A" * 70_000, "W10", to_link(Script())[:-4]]
)
def test_a_hostile_link_gives_one_message_and_an_empty_sandbox(open_page: Open, word: str):
    app = open_page("sandbox", s=word)
    assert said(app)[0] == "This link holds no session"
    assert "<script>" not in "".join(said(app))
    assert titles(app) == ["An empty pool"]
    assert not app.exception


def test_coming_back_finds_what_was_left(open_page: Open):
    app = click(open_page("sandbox"), "New request")
    go_to(app, "growth")
    go_to(app, "sandbox")
    assert titles(app)[-1] == "R1 comes in"


def test_the_last_action_that_fits_is_said(open_page: Open):
    full = Script(Pool(), (EngineStep(),) * MAX_ACTIONS)
    app = click(open_page("sandbox", s=to_link(full)), "One engine step")
    assert "a session has 200 at most" in said(app)[1]
    assert len(titles(app)) == MAX_ACTIONS + 1


def test_every_form_to_share_is_the_session(open_page: Open):
    app = click(open_page("sandbox"), "New request")
    assert not app.code
    app.session_state["sandbox_forms"] = True
    app.run()
    (download,) = app.get("download_button")
    assert download.label == "Download as a file"
    (code,) = app.code
    assert "engine.admit('R1', 'ROMEO:')" in code.value


@pytest.mark.parametrize(
    ("asked", "shown", "notice"),
    [("1", True, []), ("0", False, []), ("2", False, ["present is 2, but must be"])],
)
def test_a_link_may_present(open_page: Open, asked: str, shown: bool, notice: list[str]):
    app = open_page("sandbox", s=to_link(Script(Pool(), (SIX,))), present=asked)
    assert sent_to_player(app)["arrival"]["present"] is shown
    assert [text.startswith(start) for text, start in zip(said(app), notice, strict=True)] == [
        True for _ in notice
    ]


def test_a_pool_without_actions_is_in_the_address_too(open_page: Open):
    app = open_page("sandbox")
    assert sent_to_player(app)["address"]["settings"] == {}
    app.slider(key="sandbox_capacity").set_value(8).run()
    assert shared(app) == Script(Pool(4, 8))


def test_what_an_address_opens_without_step_is_the_last_frame(open_page: Open):
    script = Script(Pool(), (SIX, Fork(1)))
    app = open_page("sandbox", s=to_link(script))
    assert sent_to_player(app)["arrival"]["index"] == 2 == sent_to_player(app)["address"]["home"]
    first = open_page("sandbox", s=to_link(script), step="0")
    assert sent_to_player(first)["arrival"]["index"] == 0


def test_what_a_start_took_the_place_of_can_be_brought_back(open_page: Open):
    app = click(open_page("sandbox"), "New request")
    before = shared(app)
    for _ in range(2):  # the same choice twice does the same twice
        app.selectbox(key="sandbox_start").set_value(STARTS[0].title).run()
        assert shared(app) == STARTS[0].script
        assert app.selectbox(key="sandbox_start").value is None
        click(app, "Bring back the session before")
        assert shared(app) == before
    app.selectbox(key="sandbox_start").set_value("An empty pool").run()
    assert shared(app) == Script()
    click(app, "New request")
    assert "Bring back the session before" not in [button.label for button in app.button]


def test_of_two_beginnings_in_a_row_ones_own_session_is_brought_back(open_page: Open):
    app = click(open_page("sandbox"), "New request")
    before = shared(app)
    for start in STARTS[:2]:
        app.selectbox(key="sandbox_start").set_value(start.title).run()
    click(app, "Undo")
    click(app, "Bring back the session before")
    assert shared(app) == before


def test_a_prompt_is_kept_while_another_page_is_open(open_page: Open):
    app = open_page("sandbox")
    app.text_input(key="sandbox_prompt").set_value("To be").run()
    go_to(app, "growth")
    go_to(app, "sandbox")
    assert app.text_input(key="sandbox_prompt").value == "To be"


def test_a_typed_token_is_used_up_and_one_that_is_refused_stays(open_page: Open):
    app = click(open_page("sandbox"), "New request")
    app.text_input(key="sandbox_token").set_value("7").run()
    click(app, "Decode one token")
    assert said(app)[0] == "Nothing was done"
    assert app.text_input(key="sandbox_token").value == "7"
    app.text_input(key="sandbox_token").set_value("Z").run()
    click(app, "Decode one token")
    assert app.text_input(key="sandbox_token").value == ""
    assert shared(app).actions[-1] == DecodeToken(1, "Z")


def test_a_typed_token_that_found_no_block_stays(open_page: Open):
    full = Script(Pool(4, 4), (NewRequest("ROME"),))
    app = open_page("sandbox", s=to_link(full))
    app.text_input(key="sandbox_token").set_value("Z").run()
    click(app, "Decode one token")
    assert titles(app)[-1] == "R1 can never go on"
    assert app.text_input(key="sandbox_token").value == "Z"


MARKDOWN = "![x](https://example.org/x.png) [press](https://example.org) **bold**"


def hostile_links() -> list[str]:
    """Links whose values would be shown in a message."""
    texts = [
        json.dumps([1, MARKDOWN, 24, "t", []]),
        json.dumps([1, 4, 24, MARKDOWN, []]),
        json.dumps([1, 4, 24, "t", [f"n{MARKDOWN}"]]),
        json.dumps([1, MARKDOWN * 600, 24, "t", []]),
    ]
    return [base64.urlsafe_b64encode(text.encode()).decode().rstrip("=") for text in texts]


@pytest.mark.parametrize("word", hostile_links())
def test_words_of_a_link_are_never_markdown_and_never_long(open_page: Open, word: str):
    app = open_page("sandbox", s=word)
    assert [warning.value for warning in app.warning] == ["This link holds no session"]
    assert all("example.org" not in element.value for element in app.markdown)
    assert all(len(text) < 300 for text in said(app))
    assert titles(app) == ["An empty pool"]
