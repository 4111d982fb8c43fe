"""Lessons as they run at the defaults: each recorded once, however many tests read it."""

from collections.abc import Callable
from functools import cache

import pytest
from lesson_reading import Json

import kernels
from pagedkv.lessons import find_lesson
from pagedkv.model import CharGPT, load_model
from pagedkv.recorder import record
from pagedkv.settings import Settings
from pagedkv.trace.as_json import trace_to_dict
from pagedkv.trace.frame import Trace

Recorded = Callable[..., Trace]
Read = Callable[..., Json]


@pytest.fixture(scope="session")
def model() -> CharGPT:
    return load_model(kernels.runtime()["device"])


@pytest.fixture(scope="session")
def recorded(model: CharGPT) -> Recorded:
    """``recorded(slug, **settings)`` is a lesson's trace; settings left out have their defaults."""

    @cache
    def once(slug: str, settings: Settings) -> Trace:
        return record(find_lesson(slug), settings, model=model)

    return lambda slug, **settings: once(slug, Settings(**settings))


@pytest.fixture(scope="session")
def read(recorded: Recorded) -> Read:
    """``read(slug, **settings)`` is the same trace as the plain data of its JSON."""

    @cache
    def once(slug: str, settings: Settings) -> Json:
        return trace_to_dict(recorded(slug, **_fields(settings)))

    return lambda slug, **settings: once(slug, Settings(**settings))


def _fields(settings: Settings) -> dict[str, int]:
    return {name: getattr(settings, name) for name in settings.__dataclass_fields__}
