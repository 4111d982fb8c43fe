"""The seven lessons, one file each. Adding a lesson is adding a file that defines ``LESSON``."""

from importlib import import_module
from pkgutil import iter_modules

from pagedkv.lessons.base import Lesson

LESSONS: tuple[Lesson, ...] = tuple(
    sorted(
        (
            module.LESSON
            for info in iter_modules(__path__)
            if hasattr(module := import_module(f"{__name__}.{info.name}"), "LESSON")
        ),
        key=lambda lesson: lesson.order,
    )
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
