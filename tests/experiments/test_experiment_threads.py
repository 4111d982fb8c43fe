"""A server has a thread per visitor: experiments side by side give what each gives alone."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from threading import Barrier

import numpy as np
import pytest

from pagedkv.experiments import FAULTS, build_scene, run_fault, run_poison, run_shuffle


def everything(scene):
    return [
        run_poison(scene),
        run_shuffle(scene),
        *(run_fault(scene, fault) for fault in FAULTS),
    ]


def assert_same(one, other):
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert np.array_equal(a, b, equal_nan=True)
        else:
            assert a == b, field.name


def test_two_visitors_of_one_scene_see_what_each_sees_alone(scene_of):
    scene = scene_of(4)
    alone = everything(scene)
    at_once = Barrier(2)

    def visit(_):
        at_once.wait()
        return everything(scene)

    with ThreadPoolExecutor(2) as pool:
        for results in pool.map(visit, range(2)):
            for result, wanted in zip(results, alone, strict=True):
                assert_same(result, wanted)


def test_scenes_may_be_built_at_once(model, scene_of):
    at_once = Barrier(2)

    def visit(block_size):
        at_once.wait()
        return everything(build_scene(block_size, model=model))

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(visit, (3, 4)))
    for results, block_size in zip(together, (3, 4), strict=True):
        for result, wanted in zip(results, everything(scene_of(block_size)), strict=True):
            assert_same(result, wanted)


def test_a_fault_that_raises_leaves_nothing_behind(scene_of):
    scene = scene_of(4)
    before = everything(scene)
    with pytest.raises(ValueError):
        scene.attend(table=(99,) * len(scene.table))
    for result, wanted in zip(everything(scene), before, strict=True):
        assert_same(result, wanted)
