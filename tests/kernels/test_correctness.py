"""The kernels on the best device of this machine, and the check that says so."""

import json
import os
import subprocess
import sys

import pytest
import torch

import kernels
from kernels import correctness

ON_THE_BEST_DEVICE = """
import json
import torch
import kernels
from kernels.correctness import worst_errors
errors = worst_errors(torch.device(kernels.runtime()["device"]))
print(json.dumps({str(dtype): error for dtype, error in errors.items()}))
"""


def test_the_kernels_are_right_on_the_best_device_of_this_machine(project):
    """The other tests run on the CPU; a GPU, if there is one, is asked here."""
    environment = os.environ | {"PAGEDKV_DEVICE": "auto", "PYTHONPATH": str(project)}
    command = [sys.executable, "-c", ON_THE_BEST_DEVICE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    errors = json.loads(done.stdout)
    assert errors.keys() == {str(dtype) for dtype in correctness.BOUNDS}
    for dtype, bound in correctness.BOUNDS.items():
        assert errors[str(dtype)] <= bound


def test_one_position_too_many_is_noticed(monkeypatch):
    def one_too_many(query, k_cache, v_cache, tables, lens, **options):
        room = (lens + 15) // 16 * 16
        return kernels.paged_attention(
            query, k_cache, v_cache, tables, torch.minimum(lens + 1, room), **options
        )

    monkeypatch.setattr(correctness, "SHAPES", (correctness.Shape((33, 5), 16, 4, 2, 32),))
    monkeypatch.setattr(correctness, "paged_attention", one_too_many)
    errors = correctness.worst_errors(torch.device("cpu"))
    assert all(error != error for error in errors.values())  # the slot after the last holds NaN


@pytest.mark.parametrize("operation", ["copy_blocks", "write_slots"])
def test_a_write_that_does_not_happen_is_noticed(operation, monkeypatch):
    monkeypatch.setattr(correctness, "SHAPES", correctness.SHAPES[:1])
    monkeypatch.setattr(correctness, operation, lambda *arguments: None)
    errors = correctness.worst_errors(torch.device("cpu"))
    assert all(error != error for error in errors.values())
