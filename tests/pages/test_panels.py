"""Pictures of the whole lesson: drawn when asked for, with the same in words and in numbers."""

import json
from typing import Any

import pytest
from app_pages import Open
from streamlit.testing.v1 import AppTest

from pagedkv.lessons import LESSONS
from pagedkv.lessons.base import Lesson

PICTURES = ["Memory, frame by frame", "Attention maps"]


def choose_picture(app: AppTest, picture: str) -> AppTest:
    return app.segmented_control("panel").set_value(picture).run()


def figure(app: AppTest) -> dict[str, Any]:
    (chart,) = app.get("plotly_chart")
    spec: dict[str, Any] = json.loads(chart.proto.spec)
    return spec


def test_no_picture_is_drawn_until_one_is_chosen(open_page: Open) -> None:
    assert not open_page("growth").get("plotly_chart")


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_a_picture_comes_with_words_and_numbers(
    open_page: Open, lesson: Lesson, picture: str
) -> None:
    app = choose_picture(open_page(lesson.slug), picture)
    assert not app.exception
    assert figure(app)["data"]
    (chart,) = app.get("plotly_chart")
    assert chart.proto.alt in [markdown.value for markdown in app.markdown]
    assert not app.dataframe[0].value.empty


def test_another_part_head_and_layer_is_another_map(open_page: Open) -> None:
    app = choose_picture(open_page("growth"), "Attention maps")
    kernel = figure(app)["data"][0]["z"]
    app.segmented_control[1].set_value("difference").run()
    difference = figure(app)["data"][0]["z"]
    assert difference != kernel
    app.segmented_control[1].set_value("kernel")
    app.selectbox[2].set_value(1).run()
    assert figure(app)["data"][0]["z"] != kernel


def test_the_picture_follows_the_settings(open_page: Open) -> None:
    app = choose_picture(open_page("growth"), "Memory, frame by frame")
    before = figure(app)
    app.slider("block_size").set_value(2).run()
    assert figure(app) != before


def test_a_lesson_without_any_block_has_pictures_or_says_why_not(open_page: Open) -> None:
    app = choose_picture(open_page("growth", block_size="32", capacity="4"), "Attention maps")
    assert not app.exception
    assert "No query attends in this lesson at these settings." in [
        markdown.value for markdown in app.markdown
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_follow_the_theme(open_page: Open, theme: str) -> None:
    app = open_page("growth")
    app.context["theme"] = theme
    choose_picture(app, "Memory, frame by frame")
    ink = figure(app)["layout"]["font"]["color"]
    assert (int(ink[1:3], 16) > 127) == (theme == "dark")
