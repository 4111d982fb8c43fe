"""Generations for the tests: each run once, however many tests look at it."""

from collections.abc import Callable
from functools import cache

import pytest

import kernels
from pagedkv.generate import Choices, Generation
from pagedkv.model import CharGPT, load_model

Generated = Callable[..., Generation]


@pytest.fixture(scope="session")
def model() -> CharGPT:
    return load_model(kernels.runtime()["device"])


@pytest.fixture(scope="session")
def generated(model: CharGPT) -> Generated:
    """``generated(length=6, ...)`` is a generation that has run to its end; nobody changes it."""

    @cache
    def once(choices: Choices) -> Generation:
        generation = Generation(choices, model)
        for _ in generation.steps():
            pass
        return generation

    return lambda **fields: once(Choices(**fields))
