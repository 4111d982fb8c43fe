"""The course as a whole: which lessons there are, and what each of them brings along."""

import ast
import inspect
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from lesson_reading import events

from pagedkv.lessons import LESSONS, UnknownLessonError, find_lesson, in_order
from pagedkv.player.words import SENTENCES
from pagedkv.settings import Settings
from pagedkv.terms import find_term

PROJECT = Path(__file__).parents[2]
ANSWERS = ("R1", "R2")
NEW_LESSON = '''"""A lesson from elsewhere."""

from pagedkv.lessons.base import Lesson

LESSON = Lesson(
    slug="one-more", order=99, figure=None, title="One more", question="?", takeaway="!", minutes=1,
    in_engines_today=(), frames={}, script=lambda stage: None,
)
'''


def test_the_lessons_stand_in_the_articles_order():
    assert [(lesson.slug, lesson.figure) for lesson in LESSONS] == [
        ("reserve-or-allocate", 1),
        ("block-table", 2),
        ("growth", 3),
        ("scattered-attention", 4),
        ("shared-prefix", 5),
        ("copy-on-write", 6),
        ("freeing", None),
    ]


@pytest.mark.parametrize("shared", ["order", "slug"])
def test_a_lesson_with_the_order_or_slug_of_another_is_refused(shared):
    taken = getattr(LESSONS[3], shared)
    newcomer = replace(LESSONS[0], **{"order": 99, "slug": "one-more", shared: taken}, title="New")
    with pytest.raises(ValueError, match=f"^{shared} ") as refused:
        in_order([*LESSONS, newcomer])
    assert all(name in str(refused.value) for name in (LESSONS[3].title, "New", repr(taken)))


def test_the_minutes_fill_a_class_of_50_minutes():
    assert sum(lesson.minutes for lesson in LESSONS) == 50


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_a_lesson_brings_a_question_and_a_takeaway(lesson):
    assert lesson.title and lesson.takeaway.endswith(".")
    assert lesson.question.endswith("?")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_a_lesson_says_how_engines_do_it_today_with_version_and_date(lesson):
    assert lesson.in_engines_today
    for note in lesson.in_engines_today:
        assert len(note.text.split()) > 5
        assert any(map(str.isdigit, note.as_of)), note.as_of


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_every_text_of_a_lesson_is_shown_somewhere(lesson):
    tree = ast.parse(inspect.getsource(sys.modules[lesson.script.__module__]))
    strings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    assert [key for key in lesson.frames if strings.count(key) < 2] == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_a_preset_is_a_choice_of_its_own_with_a_label_of_its_own(lesson):
    offers = {"Defaults": Settings()} | {p.label: p.settings for p in lesson.presets}
    assert len(offers) == len(set(offers.values())) == 1 + len(lesson.presets)


@pytest.mark.parametrize("settings", [{}, {"prompt_length": 8}, {"capacity": 8}], ids=str)
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_r2_selects_the_second_most_likely_first_and_everybody_else_the_likeliest(
    lesson, settings, read
):
    """No lesson lets R2 select twice."""
    for frame in read(lesson.slug, **settings)["frames"]:
        for event in events(frame, "TokenSelected"):
            assert event["rank"] == int(event["request"] == "R2"), frame["index"]
        pending = [r["pending_token"] for r in frame["state"]["requests"] if r["name"] in ANSWERS]
        assert None in pending or len(set(pending)) == len(pending)


@pytest.mark.parametrize(
    ("slug", "terms"),
    [
        ("reserve-or-allocate", ["capacity"]),
        ("shared-prefix", ["response", "fork"]),
        ("copy-on-write", ["response", "fork"]),
        ("freeing", ["response", "fork"]),
    ],
)
def test_captions_use_the_terms_that_the_lesson_is_about_so_that_their_tooltips_are_met(
    slug, terms, read
):
    captions = " ".join(frame["caption"].lower() for frame in read(slug)["frames"])
    for term in map(find_term, terms):
        spellings = "|".join((term.name, *term.spellings))
        assert re.search(rf"\b({spellings})\b", captions), term.name


def test_capacity_leaves_out_weights_and_workspace():
    assert "weights and workspace are not counted" in find_term("capacity").definition


def test_a_cell_stands_for_kv_and_not_for_the_character():
    assert "not the character" in SENTENCES["legend_stored"]


def test_pagedattention_is_said_to_name_the_papers_method():
    notes = [note.text for note in find_lesson("scattered-attention").in_engines_today]
    assert any("PagedAttention" in note and "paper" in note for note in notes)


def test_an_unknown_slug_is_answered_with_the_list_of_lessons():
    with pytest.raises(UnknownLessonError) as refused:
        find_lesson("grow")
    assert "'grow'" in str(refused.value)
    assert all(lesson.slug in str(refused.value) for lesson in LESSONS)


def test_adding_a_lesson_is_adding_one_file(tmp_path):
    for package in ("kernels", "pagedkv"):
        shutil.copytree(PROJECT / package, tmp_path / package)
    (tmp_path / "pagedkv/lessons/one_more.py").write_text(NEW_LESSON)
    command = [sys.executable, "-m", "pagedkv", "lessons", "--json"]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    slugs = [lesson["slug"] for lesson in json.loads(listed.stdout)]
    assert slugs == [*(lesson.slug for lesson in LESSONS), "one-more"]
