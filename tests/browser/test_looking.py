"""Which layer and head the strip of weights shows: one worth seeing, until the learner chooses."""

from browser_tools import LessonPage, Open
from playwright.sync_api import Locator, expect

from pagedkv.lessons import find_lesson
from pagedkv.recorder import record
from pagedkv.settings import Settings
from pagedkv.trace.first_look import first_look


def option(lesson: LessonPage, group: str, value: int) -> Locator:
    name = f"{group} {value}"
    return lesson.by_id("attention").get_by_role("button", name=name, exact=True)


def test_the_strip_opens_where_attention_is_spread(open_lesson: Open) -> None:
    layer, head = first_look(record(find_lesson("growth"), Settings()))
    lesson = open_lesson("/growth?step=2")
    expect(option(lesson, "layer", layer)).to_have_attribute("aria-pressed", "true")
    expect(option(lesson, "head", head)).to_have_attribute("aria-pressed", "true")


def test_a_head_that_the_learner_chose_stays_with_other_settings(open_lesson: Open) -> None:
    runs = [Settings(), Settings(block_size=3)]
    starts = [first_look(record(find_lesson("growth"), settings)) for settings in runs]
    layer = next(n for n in range(3) if all(n != place[0] for place in starts))
    head = next(n for n in range(4) if all(n != place[1] for place in starts))
    lesson = open_lesson("/growth?step=2")
    option(lesson, "layer", layer).click()
    option(lesson, "head", head).click()
    lesson.slider("block_size").focus()
    lesson.press("ArrowLeft")
    lesson.expect_query(block_size="3", step="2")
    expect(option(lesson, "layer", layer)).to_have_attribute("aria-pressed", "true")
    expect(option(lesson, "head", head)).to_have_attribute("aria-pressed", "true")
