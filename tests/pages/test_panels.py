"""Pictures of the whole lesson: drawn when asked for, with the same in words and in numbers."""

import json
from typing import Any

import pytest
from app_pages import Open
from streamlit.testing.v1 import AppTest

from pagedkv.lessons import LESSONS, find_lesson
from pagedkv.lessons.base import Lesson
from pagedkv.recorder import record
from pagedkv.settings import Settings
from pagedkv.trace.first_look import first_look

PICTURES = ["Memory, frame by frame", "Attention maps"]


def choose_picture(app: AppTest, picture: str) -> AppTest:
    return app.segmented_control("panel").set_value(picture).run()


def figures(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def figure(app: AppTest) -> dict[str, Any]:
    (only,) = figures(app)
    return only


def matrices(app: AppTest) -> list[Any]:
    """The cells of the kernel's map, of the dense reference's, and of their difference."""
    return [figure["data"][0]["z"] for figure in figures(app)]


def test_no_picture_is_drawn_until_one_is_chosen(open_page: Open) -> None:
    assert not open_page("growth").get("plotly_chart")


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_a_picture_comes_with_words_and_numbers(
    open_page: Open, lesson: Lesson, picture: str
) -> None:
    app = choose_picture(open_page(lesson.slug), picture)
    assert not app.exception
    assert all(figure["data"] for figure in figures(app))
    charts = app.get("plotly_chart")
    words = [markdown.value for markdown in app.markdown]
    assert charts
    assert all(chart.proto.alt in words for chart in charts)
    assert not app.dataframe[0].value.empty


def test_kernel_and_dense_reference_stand_beside_their_difference(open_page: Open) -> None:
    app = choose_picture(open_page("growth"), "Attention maps")
    kernel, dense, difference = matrices(app)
    assert kernel != difference != dense
    titles = [figure["layout"]["title"]["text"] for figure in figures(app)]
    assert len(set(titles)) == 3


def test_another_layer_and_head_are_other_maps(open_page: Open) -> None:
    app = choose_picture(open_page("growth"), "Attention maps")
    seen = [matrices(app)]
    for selectbox in (1, 2):
        chosen = app.selectbox[selectbox]
        other = next(option for option in chosen.options if option != str(chosen.value))
        seen.append(matrices(chosen.set_value(int(other)).run()))
    assert seen[0] != seen[1] != seen[2]


def test_the_maps_open_where_the_strip_does(open_page: Open) -> None:
    app = choose_picture(open_page("scattered-attention"), "Attention maps")
    trace = record(find_lesson("scattered-attention"), Settings())
    assert (app.selectbox[1].value, app.selectbox[2].value) == first_look(trace)


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
