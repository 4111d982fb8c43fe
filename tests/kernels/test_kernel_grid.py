"""Every shape against the oracle, relative error per row and head; contexts whole and split.

480 shapes in three dtypes. ``make test`` takes one in 71 of them, ``make test-all`` takes all.
"""

from itertools import product

import torch
from scattered import edge_lengths, scatter

from kernels import attention_launch
from kernels.correctness import BOUNDS
from kernels.dense_attention import dense_attention

BLOCK_SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32]
HEAD_DIMS = [8, 13, 16, 48, 64, 80, 96, 112, 128, 256]
HEADS = [(8, 8), (8, 2), (8, 1), (9, 3)]
SPLITS = [1, 2, 3, 8]
ONE_IN = 71  # has no factor in common with the grid, so the sample meets every value of every axis

SHAPES = list(product(BLOCK_SIZES, HEAD_DIMS, HEADS, BOUNDS))


def pytest_generate_tests(metafunc):
    if "shape" in metafunc.fixturenames:
        whole = metafunc.config.getoption("--whole-grid")
        shapes = SHAPES if whole else SHAPES[::ONE_IN]
        names = [
            f"block {block}, dim {dim}, {heads[0]}/{heads[1]} heads, {str(dtype)[6:]}"
            for block, dim, heads, dtype in shapes
        ]
        metafunc.parametrize("shape", shapes, ids=names)


def test_the_sample_meets_every_value_of_every_axis():
    sample = SHAPES[::ONE_IN]
    for axis, values in enumerate((BLOCK_SIZES, HEAD_DIMS, HEADS, BOUNDS)):
        assert {shape[axis] for shape in sample} == set(values)


def test_all_lengths_in_all_splits(shape):
    block_size, head_dim, (num_heads, num_kv_heads), dtype = shape
    lengths = [*edge_lengths(block_size), 333, 1002]
    case = scatter(
        lengths,
        block_size=block_size,
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        head_dim=head_dim,
        dtype=dtype,
    )
    expected = [
        dense_attention(case.query[row], k, v)
        for row, (k, v) in enumerate(zip(case.keys, case.values, strict=True))
    ]
    for num_splits in SPLITS:
        weights = torch.zeros(len(lengths), num_heads, max(lengths))
        out = attention_launch.paged_attention(
            *case.arguments, max(lengths), head_dim**-0.5, weights, num_splits
        )
        for row, (right, right_weights) in enumerate(expected):
            error = (out[row].double() - right).norm(dim=-1) / right.norm(dim=-1)
            assert float(error.max()) <= BOUNDS[dtype], (num_splits, lengths[row])
            within = weights[row, :, : lengths[row]].double()
            torch.testing.assert_close(within, right_weights, atol=1e-5, rtol=0)
            assert (weights[row, :, lengths[row] :] == 0).all()
