"""A prefill attends like as many rows with the same table, each a position further."""

import pytest
import torch
from scattered import BACKENDS, BLOCK_SIZES, Scattered, assert_equals_dense, edge_lengths, scatter

import kernels

every_backend = pytest.mark.parametrize("backend", BACKENDS)


def prompt(context_len: int, tokens: int, **shape: object) -> Scattered:
    """The last ``tokens`` of one context, with what each of them may see as keys and values."""
    case = scatter([context_len], seed=context_len, **shape)
    generator = torch.Generator().manual_seed(tokens)
    query = torch.randn(tokens, *case.query.shape[1:], generator=generator)
    case.query = query.to(case.query.dtype)
    seen = range(context_len - tokens + 1, context_len + 1)
    (keys,), (values,) = case.keys, case.values
    case.keys, case.values = [keys[:n] for n in seen], [values[:n] for n in seen]
    return case


def prefill(case: Scattered, **options: object) -> tuple[torch.Tensor, torch.Tensor]:
    return kernels.paged_prefill(
        case.query,
        case.k_cache,
        case.v_cache,
        case.block_tables[0],
        int(case.context_lens[0]),
        return_weights=True,
        **options,
    )


@every_backend
@pytest.mark.parametrize("block_size", [*BLOCK_SIZES, 6, 12, 31, 32])
def test_a_prompt_around_every_block_edge(block_size, backend):
    for n in edge_lengths(block_size):
        case = prompt(n, n, block_size=block_size)
        assert_equals_dense(case, *prefill(case, backend=backend))


@every_backend
@pytest.mark.parametrize(("context_len", "tokens"), [(14, 9), (64, 1), (200, 130), (300, 300)])
def test_a_later_chunk_sees_what_is_cached_and_itself(context_len, tokens, backend):
    case = prompt(context_len, tokens, block_size=3)
    assert_equals_dense(case, *prefill(case, backend=backend))


@every_backend
@pytest.mark.parametrize("head_dim", [8, 13, 80, 256])
@pytest.mark.parametrize(("num_heads", "num_kv_heads"), [(8, 8), (8, 1), (9, 3)])
def test_any_heads(num_heads, num_kv_heads, head_dim, backend):
    heads = {"num_heads": num_heads, "num_kv_heads": num_kv_heads, "head_dim": head_dim}
    case = prompt(21, 17, **heads)
    assert_equals_dense(case, *prefill(case, backend=backend))


@every_backend
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float16, 3e-3), (torch.bfloat16, 1.6e-2)])
def test_half_precision_is_within_its_own_rounding(dtype, tolerance, backend):
    case = prompt(40, 33, dtype=dtype)
    assert_equals_dense(case, *prefill(case, backend=backend), tolerance=tolerance)


@every_backend
def test_it_equals_rows_with_a_table_each(backend):
    case = prompt(70, 66)
    out, weights = prefill(case, backend=backend)
    by_rows = kernels.paged_attention(
        case.query,
        case.k_cache,
        case.v_cache,
        case.block_tables.expand(66, -1),
        torch.arange(5, 71, dtype=torch.int32),
        return_weights=True,
        backend=backend,
    )
    torch.testing.assert_close((out, weights), by_rows, atol=2e-6, rtol=0)


@every_backend
@pytest.mark.parametrize("poison", [torch.nan, torch.inf, 1e30])
def test_nothing_after_the_context_counts(poison, backend):
    case = prompt(9, 9, poison=poison, past_the_end=10**9)
    assert_equals_dense(case, *prefill(case, backend=backend))


@every_backend
def test_no_tokens_give_nothing(backend):
    case = prompt(9, 0)
    out, weights = prefill(case, backend=backend)
    assert out.shape == (0, 4, 32)
    assert weights.shape == (0, 4, 9)


@every_backend
@pytest.mark.parametrize("name", ["query", "k_cache", "v_cache"])
def test_inputs_need_not_be_contiguous(name, backend):
    case = prompt(21, 17)
    x = getattr(case, name)
    setattr(case, name, torch.stack([x, torch.zeros_like(x)], dim=-1).flatten(-2)[..., ::2])
    assert_equals_dense(case, *prefill(case, backend=backend))


REFUSALS = {
    "a context shorter than its query": (
        {"context_len": 5},
        "context_len is 5; with 6 query tokens and a table of 3 blocks of 4 it must be in 6..12",
    ),
    "a context beyond its table": ({"context_len": 13}, "it must be in 6..12"),
    "a context that is no number": ({"context_len": True}, "context_len is True; it must be a"),
    "a table of rows": (
        {"block_table": torch.zeros(1, 3, dtype=torch.int32)},
        r"block_table has shape \[1, 3\]; it must be \[max_blocks\]",
    ),
    "a table of int64": (
        {"block_table": torch.zeros(3, dtype=torch.int64)},
        "block_table is torch.int64; it must be torch.int32",
    ),
    "an id outside the pool": (
        {"block_table": torch.tensor([0, 7, -1], dtype=torch.int32)},
        r"block_table\[1\] is 7, and context_len = 6 uses it; the pool has 5 blocks",
    ),
    "a query of another dtype": (
        {"query": torch.zeros(6, 4, 32, dtype=torch.float16)},
        "query is torch.float16; it must be torch.float32",
    ),
    "heads that do not divide": (
        {"query": torch.zeros(6, 3, 32)},
        "query has 3 heads; it must be a multiple of the cache's 2 KV heads",
    ),
    "a scale that is no number": ({"scale": float("nan")}, "scale is nan; it must be a finite"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_does_not_fit_is_refused_by_name(name):
    changed, message = REFUSALS[name]
    case = prompt(6, 6)
    arguments = {
        "query": case.query,
        "k_cache": case.k_cache,
        "v_cache": case.v_cache,
        "block_table": case.block_tables[0],
        "context_len": 6,
    }
    assert len(case.k_cache) == 5
    with pytest.raises(ValueError, match=message):
        kernels.paged_prefill(**(arguments | changed))
