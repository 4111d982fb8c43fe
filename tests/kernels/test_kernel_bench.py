"""The benchmark's arithmetic and its inputs; what it measures is for a reader to judge."""

import pytest
import torch

import kernels
from kernels.bench.__main__ import is_right
from kernels.bench.rivals import gather_and_sdpa, sdpa_on_contiguous
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


@pytest.mark.parametrize("rival", [sdpa_on_contiguous, gather_and_sdpa])
@pytest.mark.parametrize("in_order", [False, True])
def test_a_rival_gives_the_same_answer(rival, in_order):
    inputs = make_inputs(SMALL, torch.device("cpu"))
    if in_order:
        inputs = inputs.in_order()
    out = kernels.paged_attention(
        inputs.query, inputs.k_cache, inputs.v_cache, inputs.block_tables, inputs.context_lens
    )
    torch.testing.assert_close(rival(inputs)()[:, :, 0], out, atol=1e-5, rtol=0)


def test_without_a_gpu_every_number_says_what_it_is():
    text = "\n".join(report())
    for words in ("Bounds, not measurements", "says nothing about a GPU", "in plain torch"):
        assert words in text
    assert "537.1 MB" in text


def test_nothing_is_measured_with_kernels_that_are_wrong(monkeypatch, capsys):
    monkeypatch.setattr(
        "kernels.bench.__main__.worst_errors", lambda device: {torch.float32: float("nan")}
    )
    assert not is_right(torch.device("cpu"))
    assert "wrong here" in capsys.readouterr().out
