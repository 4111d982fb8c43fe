"""The same source compiles for GPUs, into what a GPU is good at. Nothing runs on one here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernels import compile_check

SCRIPT = Path(__file__).parent / "compile_for_gpus.py"
PROJECT = SCRIPT.parents[2]
KERNELS = {
    "paged_attention",
    "paged_attention_reduce",
    "paged_prefill",
    "write_slots",
    "copy_blocks",
}
TARGETS = {"sm_80", "sm_90", "sm_100", "gfx942"}
SMALLEST_SHARED_MEMORY = 99 * 1024  # bytes a program may use on the smaller GPUs since Ampere


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """``run(*command)``: what a Python command prints, with compiled kernels kept apart."""
    environment = {key: value for key, value in os.environ.items() if "TRITON" not in key}
    environment |= {
        "PAGEDKV_DEVICE": "auto",
        "PAGEDKV_BACKEND": "auto",
        "PYTHONPATH": str(PROJECT),
        "TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("triton")),
    }

    def run_it(*command):
        done = subprocess.run(
            [sys.executable, *command], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run_it


@pytest.fixture(scope="module")
def rows(run):
    return json.loads(run("-m", "kernels.compile_check", "--json"))


@pytest.fixture(scope="module")
def report(run):
    return json.loads(run(str(SCRIPT)))


# The compile check


def test_every_kernel_compiles_for_every_target(rows):
    assert {(row["kernel"], row["target"]) for row in rows} == {
        (kernel, target) for kernel in KERNELS for target in TARGETS
    }


def test_a_row_says_all_that_there_is_to_know(rows):
    keys = {
        *("kernel", "target", "options", "registers", "spills"),
        *("shared", "shared_limit", "wide_loads", "tensor_core_ops"),
    }
    assert all(row.keys() == keys for row in rows)
    assert all(row["registers"] > 0 for row in rows)


def test_nothing_spills_and_shared_memory_suffices(rows):
    assert [row for row in rows if row["spills"]] == []
    assert [row for row in rows if row["shared"] > row["shared_limit"]] == []


def test_what_moves_moves_sixteen_bytes_at_a_time(rows):
    assert [row for row in rows if row["wide_loads"] < wide_loads_needed(row)] == []


def wide_loads_needed(row):
    """The 16-byte loads of a thread that bring a tile of K and one of V, or 1 outside attention."""
    if row["kernel"] not in ("paged_attention", "paged_prefill"):
        return 1
    options = row["options"]
    threads = options.get("num_warps", 4) * (64 if row["target"] == "gfx942" else 32)
    bytes_of_kv = 2 * options["TILE"] * options["BLOCK_D"] * 2  # bf16
    return bytes_of_kv // (16 * threads)


def test_attention_runs_on_tensor_cores(rows):
    attention = [row for row in rows if row["kernel"] in ("paged_attention", "paged_prefill")]
    assert len(attention) == 2 * len(TARGETS)
    assert [row for row in attention if not row["tensor_core_ops"]] == []


def test_two_programs_fit_the_registers_of_a_multiprocessor(rows):
    cuda = [row for row in rows if row["target"].startswith("sm_")]
    threads = {row["kernel"]: row["options"].get("num_warps", 4) * 32 for row in cuda}
    assert [row for row in cuda if row["registers"] * threads[row["kernel"]] > 2**16 / 2] == []


def test_the_table_says_the_same_as_the_rows(rows, monkeypatch, capsys):
    monkeypatch.setattr(compile_check, "compile_rows", lambda: rows)
    assert compile_check.main([]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[:4] for line in lines] == [
        [row["kernel"], row["target"], str(row["registers"]), str(row["spills"])] for row in rows
    ]


# Beyond it


def test_k_and_v_are_loaded_in_no_other_way(report):
    wide = {f"{kernel} {cache}": [16] for kernel in ("decode", "prefill") for cache in "KV"}
    assert report["kv_widths"] == dict.fromkeys(TARGETS - {"gfx942"}, wide)


def test_unaligned_rows_are_seen_to_be_loaded_in_pieces(report):
    assert report["unaligned"] == {"decode K": [16], "decode V": [4]}


def test_decode_and_prefill_use_the_products_that_suit_them_on_hopper(report):
    """wgmma takes 64 rows at least; a decode has the few heads of a group."""
    assert report["products"] == {"decode": ["mma.sync"], "prefill": ["wgmma.mma_async"]}


def test_many_splits_are_joined_without_spilling(report):
    joined = report["many_splits"]
    assert {fact["kernel"] for fact in joined} == {"paged_attention_reduce"}
    assert {fact["target"] for fact in joined} == TARGETS
    assert {"66 splits", "128 splits", "600 splits"} < {fact["case"] for fact in joined}
    assert [fact for fact in joined if fact["spills"]] == []


def test_unusual_shapes_neither_spill_nor_ask_for_too_much(report):
    assert [fact for fact in report["facts"] if fact["spills"]] == []
    assert max(fact["shared"] for fact in report["facts"]) <= SMALLEST_SHARED_MEMORY


def test_fp32_products_stay_off_the_tensor_cores_which_would_round_them(report):
    attention = [fact for fact in report["facts"] if fact["kernel"] == "paged_attention"]
    assert {fact["case"] for fact in attention if not fact["tensor_core_ops"]} == {
        "fp32, head_dim 256, weights"
    }


def test_weights_cost_nothing_where_they_are_not_asked_for(report):
    assert report["plain"] == report["without_weights"]
    assert len(report["plain"]["opcodes"]) > 100


def test_addresses_within_a_block_are_wide_where_its_offsets_lie_far_apart(report):
    assert report["far_apart"] == {"index": "int64", "narrow_products": []}


def test_compiled_kernels_refuse_tensors_on_the_cpu(report):
    assert report["backend"] == "triton-cuda"
    assert report["refused"].startswith(
        "k_cache is on cpu; compiled Triton kernels need it on cuda"
    )
