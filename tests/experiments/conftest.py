"""Scenes as experiments share them: each built once, since no experiment may change one."""

from collections.abc import Callable
from functools import cache

import pytest

import kernels
from pagedkv.experiments import Scene, build_scene
from pagedkv.model import CharGPT, load_model

SceneOf = Callable[..., Scene]


@pytest.fixture(scope="session")
def model() -> CharGPT:
    return load_model(kernels.runtime()["device"])


@pytest.fixture(scope="session")
def scene_of(model: CharGPT) -> SceneOf:
    """``scene_of(block_size, layer)``; the layer is 0 unless given."""
    return cache(lambda block_size, layer=0: build_scene(block_size, layer, model))
