"""The same source compiles for GPUs, into what a GPU is good at. Nothing runs on one here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "compile_for_gpus.py"
SMALLEST_SHARED_MEMORY = 99 * 1024  # bytes a program may use on the smaller GPUs since Ampere


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    environment = {key: value for key, value in os.environ.items() if "TRITON" not in key}
    environment |= {
        "PAGEDKV_DEVICE": "auto",
        "PAGEDKV_BACKEND": "auto",
        "PYTHONPATH": str(SCRIPT.parents[2]),
        "TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("triton")),
    }
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_kernel_compiles(report):
    assert {fact["kernel"] for fact in report["facts"]} == {
        "paged_attention_kernel",
        "write_slots_kernel",
        "copy_blocks_kernel",
    }
    assert {fact["arch"] for fact in report["facts"]} == {80, 90}


def test_no_kernel_spills_registers_or_asks_for_too_much_shared_memory(report):
    assert [fact for fact in report["facts"] if fact["spills"]] == []
    assert max(fact["shared"] for fact in report["facts"]) <= SMALLEST_SHARED_MEMORY


def test_k_and_v_move_sixteen_bytes_at_a_time(report):
    assert [fact for fact in report["facts"] if not fact["wide_loads"]] == []


def test_half_precision_products_run_on_tensor_cores_and_fp32_does_not(report):
    attention = [fact for fact in report["facts"] if fact["kernel"] == "paged_attention_kernel"]
    on_tensor_cores = {fact["dtype"] for fact in attention if fact["tensor_core_products"]}
    assert on_tensor_cores == {"torch.float16", "torch.bfloat16"}


def test_a_program_serves_one_row_and_one_kv_head(report):
    attention = [fact for fact in report["facts"] if fact["kernel"] == "paged_attention_kernel"]
    assert {tuple(fact["programs"]) for fact in attention} == {(2 * 8,)}


def test_compiled_kernels_refuse_tensors_on_the_cpu(report):
    assert report["backend"] == "triton-cuda"
    assert report["refused"].startswith(
        "k_cache is on cpu; compiled Triton kernels need it on cuda"
    )
