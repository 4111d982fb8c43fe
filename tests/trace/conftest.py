"""Traces for the tests of how traces are made and written: real lessons, each recorded once."""

from collections.abc import Callable
from functools import cache

import pytest

import kernels
from pagedkv.lessons import find_lesson
from pagedkv.model import load_model
from pagedkv.recorder import record
from pagedkv.settings import Settings
from pagedkv.trace.frame import Trace


@pytest.fixture(scope="session")
def recorded() -> Callable[..., Trace]:
    """``recorded(slug, **settings)`` is a lesson's trace; settings left out have their defaults."""
    model = load_model(kernels.runtime()["device"])

    @cache
    def once(slug: str, settings: Settings) -> Trace:
        return record(find_lesson(slug), settings, model=model)

    return lambda slug, **settings: once(slug, Settings(**settings))
