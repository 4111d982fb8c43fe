"""Which code runs the kernels: what the two variables ask for, and what is said about it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import kernels
from kernels import backend

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("value", ["gpu", "CPU", "", "cuda:0"])
def test_a_bad_device_is_refused_with_the_right_ones(value, monkeypatch):
    monkeypatch.setenv("PAGEDKV_DEVICE", value)
    with pytest.raises(ValueError, match=rf"PAGEDKV_DEVICE is '{value}'.*auto, cuda, cpu"):
        backend.choose()


@pytest.mark.parametrize("value", ["numpy", "Triton", "", "triton-cuda"])
def test_a_bad_backend_is_refused_with_the_right_ones(value, monkeypatch):
    monkeypatch.setenv("PAGEDKV_BACKEND", value)
    with pytest.raises(ValueError, match=rf"PAGEDKV_BACKEND is '{value}'.*auto, triton, torch"):
        backend.choose()


def test_cuda_cannot_be_asked_for_where_there_is_none(monkeypatch):
    monkeypatch.setenv("PAGEDKV_DEVICE", "cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match=r"PAGEDKV_DEVICE is 'cuda'.*no CUDA device"):
        backend.choose()


@pytest.mark.parametrize(
    ("has_cuda", "wanted", "device"),
    [
        (False, "auto", "cpu"),
        (False, "cpu", "cpu"),
        (True, "auto", "cuda"),
        (True, "cuda", "cuda"),
        (True, "cpu", "cpu"),
    ],
)
def test_auto_takes_cuda_if_there_is_any(has_cuda, wanted, device, monkeypatch):
    monkeypatch.setenv("PAGEDKV_DEVICE", wanted)
    monkeypatch.setenv("PAGEDKV_BACKEND", "torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    assert backend.choose().device == device


def test_without_triton_torch_takes_over(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)  # import triton raises ImportError
    monkeypatch.delitem(sys.modules, "triton.language")
    monkeypatch.delenv("PAGEDKV_BACKEND", raising=False)
    monkeypatch.setenv("PAGEDKV_DEVICE", "cpu")
    assert backend.choose().backend == "torch"


def test_triton_cannot_be_asked_for_where_it_does_not_exist(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    monkeypatch.delitem(sys.modules, "triton.language")
    monkeypatch.setenv("PAGEDKV_BACKEND", "triton")
    monkeypatch.setenv("PAGEDKV_DEVICE", "cpu")
    with pytest.raises(RuntimeError, match=r"PAGEDKV_BACKEND is 'triton'.*cannot be imported"):
        backend.choose()


def test_runtime_names_the_gpu_that_is_used(monkeypatch):
    choice = backend.Choice("cuda", has_triton=True, interpreted=False)
    monkeypatch.setattr(backend, "CHOICE", choice)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA X")
    assert kernels.runtime() == {"device": "cuda", "backend": "triton-cuda", "gpu": "NVIDIA X"}


def test_triton_that_is_already_imported_and_interprets_is_fine(monkeypatch):
    monkeypatch.setenv("PAGEDKV_DEVICE", "cpu")
    monkeypatch.setenv("PAGEDKV_BACKEND", "triton")
    assert "triton" in sys.modules
    assert backend.choose().backend == "triton-interpreter"


# Whole processes: the choice is made at import, once.

# What each of them does at the end: attend over one position whose V is 7.
ATTEND = """
import json, sys, torch, kernels

def attend(**options):
    cache, one = torch.full((1, 1, 1, 8), 7.0), torch.ones(1, dtype=torch.int32)
    return kernels.paged_attention(torch.ones(1, 1, 8), cache, cache, one[None] - 1, one, **options)

modules = [name for name in sys.modules if name == "triton" or name.startswith("kernels.")]
report = {"runtime": kernels.runtime(), "out": attend().flatten().tolist(), "modules": modules}
"""
SEVENS = [7.0] * 8


def run(script: str, **variables: str) -> dict[str, Any]:
    """Run ``script`` and ``ATTEND`` in a fresh process with none of our variables but these."""
    names = ("PAGEDKV_DEVICE", "PAGEDKV_BACKEND", "TRITON_INTERPRET")
    environment = {key: value for key, value in os.environ.items() if key not in names}
    done = subprocess.run(
        [sys.executable, "-c", script.replace("ATTEND", ATTEND) + "\nprint(json.dumps(report))"],
        env=environment | {"PAGEDKV_DEVICE": "cpu"} | variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_on_the_cpu_the_interpreter_is_chosen_without_any_variable():
    report = run("ATTEND")
    assert report["runtime"] == {"device": "cpu", "backend": "triton-interpreter", "gpu": None}
    assert report["out"] == SEVENS


def test_with_torch_asked_for_triton_is_neither_imported_nor_to_be_had():
    script = """
ATTEND
try:
    attend(backend="triton")
except ValueError as error:
    report["refused"] = str(error)
"""
    report = run(script, PAGEDKV_BACKEND="torch")
    assert report["runtime"] == {"device": "cpu", "backend": "torch", "gpu": None}
    assert report["out"] == SEVENS
    assert "triton" not in report["modules"]
    assert not [name for name in report["modules"] if name.endswith("_kernel")]
    assert report["refused"] == "backend is 'triton', but this process runs without Triton"


def test_where_triton_does_not_exist_the_same_call_runs_in_torch():
    report = run("import sys; sys.modules['triton'] = None\nATTEND")
    assert report["runtime"]["backend"] == "torch"
    assert report["out"] == SEVENS
    assert not [name for name in report["modules"] if name.endswith("_kernel")]


def test_triton_imported_too_early_or_a_bad_value_stops_the_import():
    script = """
import os, triton
try:
    import kernels
except RuntimeError as error:
    too_early = str(error)
os.environ["PAGEDKV_BACKEND"] = "fast"
try:
    import kernels
except ValueError as error:
    bad_value = str(error)
os.environ["PAGEDKV_BACKEND"] = "torch"  # what the first message offers as a way out
ATTEND
report |= {"too_early": too_early, "bad_value": bad_value}
"""
    report = run(script)
    assert report["too_early"].startswith("triton was imported before kernels")
    assert "TRITON_INTERPRET=1" in report["too_early"]
    assert report["bad_value"].startswith("PAGEDKV_BACKEND is 'fast'")
    assert report["out"] == SEVENS
