"""Every lesson's page, at the defaults and at others: what it shows, and what moves what."""

import pytest
from app_pages import Open, go_to, labels, sent_to_player, undraw

from pagedkv.lessons import LESSONS
from pagedkv.lessons.base import Lesson
from pagedkv.settings import Settings

every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
SLIDERS = ("block_size", "capacity", "prompt_length")


@every_lesson
@pytest.mark.parametrize("block_size", [4, 5])
def test_a_lesson_opens_with_its_words_its_settings_and_its_frames(
    open_page: Open, lesson: Lesson, block_size: int
) -> None:
    app = open_page(lesson.slug, block_size=str(block_size))
    assert not app.exception
    assert not app.warning
    assert [title.value for title in app.title] == [lesson.title]
    written = [markdown.value for markdown in app.markdown]
    assert lesson.question in written
    assert lesson.takeaway in written
    for note in lesson.in_engines_today:
        assert any(note.text in text and note.as_of in text for text in written)
    assert [app.slider(name).value for name in SLIDERS] == [block_size, 24, 6]
    data = sent_to_player(app)
    assert data["lesson"]["lesson"]["slug"] == lesson.slug
    assert data["lesson"]["config"]["block_size"] == block_size
    assert len(data["lesson"]["frames"]) >= 2


@pytest.mark.parametrize(("slug", "is_term"), [("copy-on-write", True), ("growth", False)])
def test_a_title_that_is_a_term_is_explained(open_page: Open, slug: str, is_term: bool) -> None:
    (title,) = open_page(slug).title
    assert ("copy of it" in title.help) == is_term


@every_lesson
def test_a_pool_without_any_block_is_a_lesson_too(open_page: Open, lesson: Lesson) -> None:
    app = open_page(lesson.slug, block_size="32", capacity="4")
    assert not app.exception
    assert "= 0 blocks, 4 over" in app.slider("capacity").label
    assert sent_to_player(app)["lesson"]["infeasible"]


def test_moving_a_slider_brings_another_run_and_keeps_the_arrival(open_page: Open) -> None:
    app = open_page("growth", step="3")
    before = sent_to_player(app)
    app.slider("block_size").set_value(3).run()
    after = sent_to_player(app)
    assert after["lesson"]["config"]["block_size"] == 3
    assert after["lesson"]["key"] != before["lesson"]["key"]
    assert after["arrival"] == before["arrival"]
    assert after["address"]["settings"] == {"block_size": "3"}


def test_the_capacity_says_how_many_blocks_it_makes_and_what_is_left_over(open_page: Open) -> None:
    app = open_page("growth")
    assert app.slider("capacity").label == "Capacity = 6 blocks"
    app.slider("block_size").set_value(5).run()
    assert app.slider("capacity").label == "Capacity = 4 blocks, 4 over"
    app.slider("capacity").set_value(9).run()
    assert app.slider("capacity").label == "Capacity = 1 block, 4 over"


def test_the_defaults_are_one_click_away(open_page: Open) -> None:
    app = open_page("growth", block_size="7", capacity="99")
    (back,) = [button for button in app.button if button.label == "Defaults"]
    assert not back.disabled
    back.click().run()
    assert [app.slider(name).value for name in SLIDERS] == [4, 24, 6]
    assert [button.disabled for button in app.button if button.label == "Defaults"] == [True]


def test_copy_on_write_offers_the_prompt_that_fills_its_blocks(open_page: Open) -> None:
    app = open_page("copy-on-write")
    (preset,) = [button for button in app.button if button.label == "Prompt fills its blocks"]
    preset.click().run()
    assert app.slider("prompt_length").value == 8
    assert sent_to_player(app)["lesson"]["config"]["block_size"] == 4
    assert "Prompt fills its blocks" not in labels(open_page("growth"))


def test_a_permalink_restores_settings_frame_and_presentation(open_page: Open) -> None:
    app = open_page(
        "copy-on-write", block_size="4", capacity="32", prompt_length="8", step="2", present="1"
    )
    assert [app.slider(name).value for name in SLIDERS] == [4, 32, 8]
    data = sent_to_player(app)
    assert (data["arrival"]["index"], data["arrival"]["present"]) == (2, True)
    assert data["address"]["settings"] == {"capacity": "32", "prompt_length": "8"}


def test_what_a_link_cannot_have_is_replaced_and_told_until_other_settings_are_chosen(
    open_page: Open,
) -> None:
    app = open_page("growth", block_size="99", capacity="many", step="500")
    assert [app.slider(name).value for name in SLIDERS] == [32, 24, 6]
    told = [warning.value for warning in app.warning]
    assert [text.split()[0] for text in told] == ["block_size", "capacity", "step"]
    assert sent_to_player(app)["arrival"]["index"] < 500
    app.run()
    assert len(app.warning) == 3
    app.slider("block_size").set_value(4).run()
    assert not app.warning


def test_no_text_from_a_link_is_shown(open_page: Open) -> None:
    hostile = "<img src=x onerror=alert(1)> ![x](y)"
    app = open_page("growth", block_size=hostile, step=hostile, present=hostile, other=hostile)
    assert not app.exception
    assert all("img" not in warning.value and "![" not in warning.value for warning in app.warning)


def test_another_lesson_from_the_menu_opens_at_the_defaults(open_page: Open) -> None:
    app = open_page("growth", block_size="7", step="2")
    app.query_params.clear()
    go_to(app, "freeing")
    assert [app.slider(name).value for name in SLIDERS] == [4, 24, 6]
    assert sent_to_player(app)["arrival"]["index"] == 0


def test_coming_back_to_a_lesson_by_way_of_the_start_page_reads_its_address_anew(
    open_page: Open,
) -> None:
    app = open_page("growth")
    first = sent_to_player(app)["arrival"]["number"]
    go_to(app, "")
    app.query_params["block_size"] = "9"
    go_to(app, "growth")
    assert app.slider("block_size").value == 9
    assert sent_to_player(app)["arrival"]["number"] > first


def test_each_lesson_links_to_the_one_before_and_the_one_after(open_page: Open) -> None:
    trail = ["Start", *(lesson.title for lesson in LESSONS)]
    for place, lesson in enumerate(LESSONS, start=1):
        linked = [link.label for link in open_page(lesson.slug).get("page_link")]
        assert linked == [trail[place - 1], *trail[place + 1 : place + 2]]


def test_settings_of_a_lesson_are_those_of_the_command_line(open_page: Open) -> None:
    config = sent_to_player(open_page("growth", seed="5"))["lesson"]["config"]
    assert config["capacity"] == Settings().capacity
    assert config["num_blocks"] == Settings().num_blocks


def test_a_slider_that_the_browser_has_not_drawn_yet_keeps_its_value(open_page: Open) -> None:
    app = open_page("growth", capacity="40")
    undraw(app.main, "capacity")
    app.slider("block_size").set_value(3).run()
    assert not app.exception
    assert [app.slider(name).value for name in SLIDERS] == [3, 40, 6]
