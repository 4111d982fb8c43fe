"""The benchmark's arithmetic and its inputs; what it measures is for a reader to judge."""

import sys

import pytest
import torch
from torch.nn.attention import flex_attention as torch_flex

import kernels
from kernels.bench import __main__ as bench
from kernels.bench import on_gpu
from kernels.bench.answers import AnotherAnswer, check_against_oracle, check_against_ours
from kernels.bench.goals import COMPARED, LARGE, NOT_MEASURED, Goal, goals
from kernels.bench.rivals import flex_attention, gather_and_sdpa, sdpa_on_contiguous, vllm
from kernels.bench.without_gpu import report
from kernels.bench.workload import Workload, make_inputs

SMALL = Workload(3, 37, block_size=4, num_heads=4, num_kv_heads=2, head_dim=16, dtype=torch.float32)


def test_bytes_to_move_are_k_and_v_once():
    """32 sequences x 4,096 positions x 8 KV heads x 128 numbers x 2 bytes, twice: 537 MB."""
    assert Workload(32, 4096).kv_bytes == 536_870_912
    assert Workload(1, 17).blocks_per_sequence == 2
    assert Workload(1, 17).table_bytes == 4 * 2 * 8


def test_permuted_tables_name_every_block_once():
    inputs = make_inputs(SMALL, torch.device("cpu"))
    assert inputs.block_tables.flatten().sort().values.tolist() == list(range(3 * 10))
    assert inputs.in_order().block_tables.flatten().tolist() == list(range(3 * 10))


def small_inputs():
    return make_inputs(SMALL, torch.device("cpu"))


def attend(inputs):
    return kernels.paged_attention(
        inputs.query, inputs.k_cache, inputs.v_cache, inputs.block_tables, inputs.context_lens
    )


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("rival", [sdpa_on_contiguous, gather_and_sdpa, flex_attention])
@pytest.mark.parametrize("in_order", [False, True])
def test_a_rival_gives_the_same_answer(rival, in_order, monkeypatch):
    # Compiled for a CPU, FlexAttention would need a C++ compiler and minutes; its mask is the same.
    monkeypatch.setattr(torch, "compile", lambda function: function)
    monkeypatch.setattr(torch_flex, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    inputs = small_inputs().in_order() if in_order else small_inputs()
    torch.testing.assert_close(rival(inputs)(), attend(inputs), atol=1e-5, rtol=0)


# Answers


def test_our_answer_is_compared_with_the_oracle_in_the_first_and_the_last_sequence():
    inputs = small_inputs()
    out = attend(inputs)
    check_against_oracle(out, inputs)
    for row in (0, -1):
        wrong = out.clone()
        wrong[row, 2] *= 1.001
        with pytest.raises(AnotherAnswer, match=r"1\.0e-03"):
            check_against_oracle(wrong, inputs)


@pytest.mark.parametrize(
    ("rival", "said"),
    [
        (lambda out: out * 1.001, r"1\.0e-03"),
        (lambda out: out + torch.nan, "nan"),
        (lambda out: out[:, :, None], r"shape \[3, 4, 1, 16\], not \[3, 4, 16\]"),
    ],
)
def test_a_rival_s_answer_must_be_ours(rival, said):
    out = attend(small_inputs())
    check_against_ours(out.clone(), out)
    with pytest.raises(AnotherAnswer, match=said):
        check_against_ours(rival(out), out)


@pytest.fixture
def no_gpu_needed(monkeypatch):
    """What measures, on the CPU: every time is a second, and there is no graph to capture."""
    monkeypatch.setattr(on_gpu, "gpu_seconds", lambda work: 1.0)
    monkeypatch.setattr(on_gpu, "copy_bandwidth", lambda: 1e12)
    monkeypatch.setattr(on_gpu, "make_inputs", lambda workload, device: small_inputs())
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")


def refuse(inputs):
    raise TypeError("no such head_dim\nand a page of details")


@pytest.mark.parametrize(
    ("rival", "result"),
    [
        (gather_and_sdpa, 1.0),
        (lambda inputs: lambda: attend(inputs) * 2, "not measured (another answer: 1.0e+00)"),
        (refuse, "not measured (TypeError: no such head_dim)"),
    ],
)
def test_a_rival_is_timed_only_if_it_gives_our_answer(rival, result, no_gpu_needed):
    assert on_gpu.rival_seconds(rival, small_inputs()) == result


def test_the_answer_of_vllm_is_what_it_writes(monkeypatch):
    """It is not installed here: a stand-in that fills ``out`` and returns nothing, as it does."""
    name = "vllm.v1.attention.ops.triton_unified_attention"
    stand_in = type(sys)(name)

    def unified_attention(*, out, **others):
        out.fill_(7.0)

    stand_in.unified_attention = unified_attention
    parts = name.split(".")
    for end in range(1, len(parts)):
        monkeypatch.setitem(sys.modules, ".".join(parts[:end]), type(sys)(parts[end - 1]))
    monkeypatch.setitem(sys.modules, name, stand_in)
    out = vllm(small_inputs())()
    assert out.shape == (3, 4, 16)
    assert (out == 7).all()


def test_a_measurement_ends_with_its_goals(no_gpu_needed, monkeypatch):
    monkeypatch.setattr(on_gpu, "RIVALS", {"gather + SDPA": gather_and_sdpa, "vLLM": refuse})
    *lines, permuted, contiguous, gathered, _ = list(on_gpu.measure())
    large = [line for line in lines if isinstance(line, Goal)]
    assert [goal.what for goal in large] == [
        f"share of copy bandwidth, {workload}"
        for workload in on_gpu.WORKLOADS
        if workload.kv_bytes >= LARGE
    ]
    assert len(large) == 2
    assert permuted.measured == gathered.measured == "1.000"
    assert contiguous.measured == NOT_MEASURED
    assert "vLLM: not measured (TypeError: no such head_dim)" in lines


def test_nothing_more_is_measured_where_our_answer_is_wrong(no_gpu_needed, monkeypatch, capsys):
    monkeypatch.setattr(on_gpu, "ours", lambda inputs: lambda: attend(inputs) * 2)
    assert not bench.measure_gpu()
    assert f"wrong here ({SMALL}: 1.0e+00)" in capsys.readouterr().out


# Goals


BANDWIDTH = 4e12
LARGER = Workload(128, 8192)


def at(share, workload=COMPARED):
    """Seconds in which a workload's K and V move at this share of ``BANDWIDTH``."""
    return workload.kv_bytes / (BANDWIDTH * share)


def judged(ours, in_order=None, rivals=None):
    return {goal.what: goal for goal in goals(ours, in_order, rivals or {}, BANDWIDTH)}


@pytest.mark.parametrize(("share", "reached"), [(0.89, True), (0.87, False)])
def test_bandwidth_is_judged_for_every_large_workload(share, reached):
    small = Workload(8, 4096)
    found = judged({small: at(0.1, small), COMPARED: at(0.9), LARGER: at(share, LARGER)})
    name = f"share of copy bandwidth, {LARGER}"
    assert found[name] == Goal(name, ">= 0.88", f"{share:.3f}", reached)
    assert found[f"share of copy bandwidth, {COMPARED}"].reached
    assert len([what for what in found if "bandwidth" in what]) == 2


@pytest.mark.parametrize(
    ("what", "wanted", "others", "ratio", "reached"),
    [  # our time is 1
        ("permuted table / table in order", "<= 1.02", {"in_order": 1 / 1.01}, "1.010", True),
        ("permuted table / table in order", "<= 1.02", {"in_order": 1 / 1.03}, "1.030", False),
        ("time / SDPA's on contiguous KV", "<= 1", {"SDPA, KV contiguous": 1.25}, "0.800", True),
        ("time / SDPA's on contiguous KV", "<= 1", {"SDPA, KV contiguous": 0.8}, "1.250", False),
        ("times faster than gather + SDPA", ">= 3", {"gather + SDPA": 3.1}, "3.100", True),
        ("times faster than gather + SDPA", ">= 3", {"gather + SDPA": 2.9}, "2.900", False),
        ("share of FlashInfer's speed", ">= 0.95", {"FlashInfer": 0.96}, "0.960", True),
        ("share of FlashInfer's speed", ">= 0.95", {"FlashInfer": 0.94}, "0.940", False),
    ],
)
def test_each_comparison_is_judged_in_its_direction(what, wanted, others, ratio, reached):
    in_order = others.pop("in_order", None)
    assert judged({COMPARED: 1.0}, in_order, others)[what] == Goal(what, wanted, ratio, reached)


def test_what_was_not_measured_is_neither_reached_nor_missed():
    comparisons = judged({LARGER: at(0.9, LARGER)}, None, {"FlashInfer": 1.0})
    del comparisons[f"share of copy bandwidth, {LARGER}"]
    assert len(comparisons) == 4
    assert {(goal.measured, goal.reached) for goal in comparisons.values()} == {
        (NOT_MEASURED, None)
    }
    found = judged({COMPARED: 1.0})
    assert found["share of FlashInfer's speed"].reached is None


# Without a GPU


def test_without_a_gpu_every_number_says_what_it_is():
    text = "\n".join(report())
    for words in (
        "Bounds, not measurements",
        "says nothing about a GPU",
        "in plain torch",
        "4.8 TB/s",
    ):
        assert words in text
    assert "537.1 MB" in text
    for way in ("dense: SDPA", "paged: this project's torch backend", "paged: gather all KV"):
        assert way in text


def test_nothing_is_measured_with_kernels_that_are_wrong(monkeypatch, capsys):
    monkeypatch.setattr(
        "kernels.bench.__main__.worst_errors", lambda device: {torch.float32: float("nan")}
    )
    assert not bench.is_right(torch.device("cpu"))
    assert "wrong here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("gpu", "said"),
    [
        (None, "No GPU is in use"),
        ("NVIDIA H200", "NVIDIA H200 is there, but this process runs torch instead of the kernels"),
    ],
)
def test_the_last_line_says_why_no_speed_was_measured(gpu, said):
    device = "cpu" if gpu is None else "cuda"
    assert bench.why_no_speed({"device": device, "backend": "torch", "gpu": gpu}).startswith(said)
