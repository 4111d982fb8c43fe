"""The lessons, one file each. Adding a lesson is adding a file that defines ``LESSON``."""

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from pagedkv.lessons.base import Lesson


def in_order(lessons: Iterable[Lesson]) -> tuple[Lesson, ...]:
    """Sort lessons by ``order``. Raises ValueError if two share their order or their slug."""
    ordered = tuple(sorted(lessons, key=lambda lesson: lesson.order))
    for name in ("order", "slug"):
        owners: dict[object, Lesson] = {}
        for lesson in ordered:
            value = getattr(lesson, name)
            if (other := owners.setdefault(value, lesson)) is not lesson:
                titles = f"{other.title!r} and {lesson.title!r}"
                raise ValueError(f"{name} must be a lesson's own; {titles} both have {value!r}")
    return ordered


LESSONS: tuple[Lesson, ...] = in_order(
    module.LESSON
    for info in iter_modules(__path__)
    if hasattr(module := import_module(f"{__name__}.{info.name}"), "LESSON")
)


class UnknownLessonError(ValueError):
    """No lesson has this slug; the message lists those that exist."""


def find_lesson(slug: str) -> Lesson:
    """Return the lesson called ``slug``; raise ``UnknownLessonError`` that lists the lessons."""
    for lesson in LESSONS:
        if lesson.slug == slug:
            return lesson
    known = ", ".join(lesson.slug for lesson in LESSONS)
    raise UnknownLessonError(f"there is no lesson {slug!r}; the lessons are: {known}")
