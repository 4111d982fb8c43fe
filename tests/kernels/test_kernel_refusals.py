"""Bad input, one thing at a time: a ValueError that names it, and nothing written."""

import pytest
import torch
from scattered import BACKENDS, scatter

import kernels

every_backend = pytest.mark.parametrize("backend", BACKENDS)


def bits(x):
    """The numbers as integers: NaN equals NaN, and no rounding hides a change."""
    return x.contiguous().view(torch.uint8).clone()


def assert_refused(function, arguments, message, **options):
    """The call raises with ``message``, and every tensor it was given is as before."""
    tensors = [x for x in arguments.values() if isinstance(x, torch.Tensor) and not x.is_meta]
    before = [bits(x) for x in tensors]
    with pytest.raises(ValueError, match=message):
        function(**arguments, **options)
    assert all(torch.equal(bits(x), old) for x, old in zip(tensors, before, strict=True))


CACHE = torch.full((6, 4, 2, 32), 0.5)  # 24 slots
META = torch.empty(3, 2, 32, device="meta")

WRITES = {
    "k of too many tokens": ({"k": torch.ones(4, 2, 32)}, r"k has shape \[4, 2, 32\].*tokens = 3"),
    "k of other heads": (
        {"k": torch.ones(3, 4, 32)},
        r"k has shape \[3, 4, 32\].*num_kv_heads = 2",
    ),
    "k of another dim": ({"k": torch.ones(3, 2, 8)}, r"k has shape \[3, 2, 8\].*head_dim = 32"),
    "k flat": ({"k": torch.ones(3, 64)}, r"k has shape \[3, 64\]"),
    "k of another dtype": ({"k": torch.ones(3, 2, 32).half()}, r"k is torch.float16.*float32"),
    "k elsewhere": ({"k": META}, r"k is on meta.*cpu"),
    "k no tensor": ({"k": [1.0]}, r"k is \[1.0\].*tensor"),
    "v of too few tokens": ({"v": torch.ones(2, 2, 32)}, r"v has shape \[2, 2, 32\].*tokens = 3"),
    "v of another dtype": ({"v": torch.ones(3, 2, 32).bfloat16()}, r"v is torch.bfloat16"),
    "v elsewhere": ({"v": META}, r"v is on meta"),
    "a cache without heads": (
        {"k_cache": torch.ones(6, 4, 64)},
        r"k_cache has shape \[6, 4, 64\].*num_kv_heads",
    ),
    "a cache of doubles": ({"k_cache": CACHE.double()}, r"k_cache is torch.float64.*torch.float16"),
    "a cache of whole numbers": ({"k_cache": CACHE.int()}, r"k_cache is torch.int32"),
    "a cache of empty blocks": (
        {"k_cache": torch.ones(6, 0, 2, 32)},
        r"k_cache has shape \[6, 0, 2, 32\].*block_size",
    ),
    "a cache with dim 257": ({"k_cache": torch.ones(6, 4, 2, 257)}, r"257\].*head_dim in 1\.\.256"),
    "a cache that is no tensor": ({"k_cache": None}, r"k_cache is None.*tensor"),
    "v_cache of other blocks": (
        {"v_cache": torch.ones(5, 4, 2, 32)},
        r"v_cache has shape \[5, 4, 2, 32\].*\[6, 4, 2, 32\]",
    ),
    "v_cache of another dtype": ({"v_cache": CACHE.half()}, r"v_cache is torch.float16.*float32"),
    "v_cache elsewhere": ({"v_cache": CACHE.to("meta")}, r"v_cache is on meta"),
    "slots of another dtype": (
        {"slot_mapping": torch.tensor([9, 2, 17], dtype=torch.int32)},
        r"slot_mapping is torch.int32.*torch.int64",
    ),
    "slots in a table": ({"slot_mapping": torch.tensor([[9, 2, 17]])}, r"slot_mapping has shape"),
    "slots as a list": ({"slot_mapping": [9, 2, 17]}, r"slot_mapping is \[9, 2, 17\].*tensor"),
    "a slot past the pool": (
        {"slot_mapping": torch.tensor([9, 24, 17])},
        r"slot_mapping\[1\] is 24.*24 slots.*0\.\.23",
    ),
    "a slot below the pool": (
        {"slot_mapping": torch.tensor([9, 2, -2])},
        r"slot_mapping\[2\] is -2.*-1 \(skip\)",
    ),
    "one slot for two tokens": (
        {"slot_mapping": torch.tensor([9, 2, 9])},
        r"slot_mapping\[2\] is 9 again",
    ),
}


@every_backend
@pytest.mark.parametrize("case", WRITES)
def test_write_slots_refuses(case, backend):
    change, message = WRITES[case]
    arguments = {
        "k": torch.ones(3, 2, 32),
        "v": torch.ones(3, 2, 32),
        "k_cache": CACHE.clone(),
        "v_cache": CACHE.clone(),
        "slot_mapping": torch.tensor([9, 2, 17]),
        **change,
    }
    assert_refused(kernels.write_slots, arguments, message, backend=backend)


COPIES = {
    "a source past the pool": ([(0, 1), (6, 2)], r"pairs\[1\] is \[6, 2\].*6 blocks.*0\.\.5"),
    "a destination past the pool": ([(0, 6)], r"pairs\[0\] is \[0, 6\].*0\.\.5"),
    "a source below the pool": ([(-1, 2)], r"pairs\[0\] is \[-1, 2\]"),
    "a destination below the pool": ([(1, -1)], r"pairs\[0\] is \[1, -1\]"),
    "a destination twice": ([(0, 2), (1, 2)], r"pairs\[1\] is \[1, 2\].*2 is a destination twice"),
    "a destination that is a source": ([(0, 2), (2, 3)], r"pairs\[0\].*2 is also a source"),
    "a block onto itself": ([(4, 4)], r"pairs\[0\] is \[4, 4\].*4 is also a source"),
    "pairs of another dtype": (torch.tensor([[0.0, 1.0]]), r"pairs is torch.float32.*int64"),
    "triples": (torch.tensor([[0, 1, 2]]), r"pairs has shape \[1, 3\].*\[n, 2\]"),
    "a flat list": (torch.tensor([0, 1]), r"pairs has shape \[2\].*\[n, 2\]"),
    "a list of triples": ([(0, 1, 2)], r"pairs has shape \[1, 3\].*\[n, 2\]"),
    "a ragged list": ([(0, 1), (2,)], r"pairs is \[\(0, 1\), \(2,\)\]"),
    "a list of names": ([("P0", "P1")], r"pairs is \[\('P0', 'P1'\)\]"),
    "a list of fractions": ([(0.5, 1.0)], r"pairs is torch.float32"),
    "pairs elsewhere": (torch.empty(1, 2, dtype=torch.int64, device="meta"), r"pairs is on meta"),
}


@every_backend
@pytest.mark.parametrize("case", COPIES)
def test_copy_blocks_refuses(case, backend):
    pairs, message = COPIES[case]
    caches = {"k_cache": CACHE.clone(), "v_cache": CACHE.clone()}
    assert_refused(kernels.copy_blocks, {**caches, "pairs": pairs}, message, backend=backend)


@every_backend
@pytest.mark.parametrize(
    ("k_shape", "v_shape", "message"),
    [
        ((6, 4, 64), (6, 4, 64), r"k_cache has shape \[6, 4, 64\].*layers axis"),
        ((1, 1, 6, 4, 2, 32), (1, 1, 6, 4, 2, 32), r"k_cache has shape \[1, 1, 6, 4, 2, 32\]"),
        ((2, 6, 4, 2, 32), (6, 4, 2, 32), r"v_cache has shape \[6, 4, 2, 32\]"),
        ((2, 6, 4, 2, 32), (3, 6, 4, 2, 32), r"v_cache has shape \[3, 6, 4, 2, 32\]"),
    ],
)
def test_copy_blocks_refuses_caches_that_do_not_fit(k_shape, v_shape, message, backend):
    arguments = {"k_cache": torch.ones(k_shape), "v_cache": torch.ones(v_shape), "pairs": [(0, 1)]}
    assert_refused(kernels.copy_blocks, arguments, message, backend=backend)


def int32(*values):
    return torch.tensor(values, dtype=torch.int32)


def tables(row, entry, block_id):
    """The tables of the attention case below, with one entry changed."""
    changed = scatter([9, 6]).block_tables
    changed[row, entry] = block_id
    return changed


ATTENTIONS = {
    "query of another dim": ({"query": torch.ones(2, 4, 8)}, r"query has shape .*head_dim = 32"),
    "query flat": ({"query": torch.ones(2, 128)}, r"query has shape \[2, 128\]"),
    "query of another dtype": ({"query": torch.ones(2, 4, 32).half()}, r"query is torch.float16"),
    "query elsewhere": ({"query": torch.ones(2, 4, 32, device="meta")}, r"query is on meta"),
    "heads that do not divide": ({"query": torch.ones(2, 3, 32)}, r"query has 3 heads.*2 KV heads"),
    "no heads": ({"query": torch.ones(2, 0, 32)}, r"query has 0 heads"),
    "more queries than tables": (
        {"query": torch.ones(3, 4, 32)},
        r"block_tables has shape \[2, 4\].*rows = 3",
    ),
    "v_cache of another shape": ({"v_cache": torch.ones(8, 4, 2, 16)}, r"v_cache has shape"),
    "tables of another dtype": (
        {"block_tables": scatter([9, 6]).block_tables.long()},
        r"block_tables is torch.int64.*torch.int32",
    ),
    "tables flat": ({"block_tables": int32(1, 2)}, r"block_tables has shape \[2\]"),
    "tables elsewhere": (
        {"block_tables": scatter([9, 6]).block_tables.to("meta")},
        r"block_tables is on meta",
    ),
    "lengths of another dtype": (
        {"context_lens": torch.tensor([9, 6])},
        r"context_lens is torch.int64.*torch.int32",
    ),
    "too few lengths": ({"context_lens": int32(9)}, r"context_lens has shape \[1\].*rows = 2"),
    "a length below zero": ({"context_lens": int32(9, -1)}, r"context_lens\[1\] is -1.*0\.\.16"),
    "a length past its table": (
        {"context_lens": int32(9, 17)},
        r"context_lens\[1\] is 17.*4 blocks of 4.*0\.\.16",
    ),
    "a used entry past the pool": (
        {"block_tables": tables(0, 2, 8)},
        r"block_tables\[0, 2\] is 8.*context_lens\[0\] = 9.*8 blocks.*0\.\.7",
    ),
    "a used entry of -1": (
        {"block_tables": tables(1, 1, -1)},
        r"block_tables\[1, 1\] is -1.*context_lens\[1\] = 6",
    ),
    "an infinite scale": ({"scale": float("inf")}, r"scale is inf.*finite"),
    "a scale too large for fp32": ({"scale": 1e38}, r"scale is 1e\+38.*at most 1e\+30"),
    "a scale in words": ({"scale": "a"}, r"scale is 'a'; it must be a finite number"),
    "a scale beyond floats": ({"scale": 10**400}, r"it must be a finite number"),
    "a scale that is no number": ({"scale": float("nan")}, r"scale is nan.*finite"),
}


@every_backend
@pytest.mark.parametrize("case", ATTENTIONS)
def test_paged_attention_refuses(case, backend):
    change, message = ATTENTIONS[case]
    names = ("query", "k_cache", "v_cache", "block_tables", "context_lens")
    good = dict(zip(names, scatter([9, 6]).arguments, strict=True))  # 5 blocks in use, 8 in all
    kernels.paged_attention(**good, backend=backend)
    assert_refused(kernels.paged_attention, {**good, **change}, message, backend=backend)


@every_backend
def test_a_context_needs_blocks_that_a_pool_of_none_does_not_have(backend):
    cache = torch.empty(0, 4, 2, 32)
    arguments = (torch.ones(1, 4, 32), cache, cache, int32(0)[None], int32(1))
    with pytest.raises(ValueError, match=r"block_tables\[0, 0\] is 0.*the pool has 0 blocks"):
        kernels.paged_attention(*arguments, backend=backend)


@pytest.mark.parametrize("backend", ["cuda", "auto", "Torch", "", 1])
def test_an_unknown_backend_is_named(backend):
    case = scatter([9])
    message = rf"backend is {backend!r}; it must be None, 'triton' or 'torch'"
    with pytest.raises(ValueError, match=message):
        kernels.paged_attention(*case.arguments, backend=backend)
    with pytest.raises(ValueError, match=message):
        kernels.copy_blocks(case.k_cache, case.v_cache, [(0, 1)], backend=backend)
    with pytest.raises(ValueError, match=message):
        kernels.write_slots(
            torch.ones(1, 2, 32),
            torch.ones(1, 2, 32),
            case.k_cache,
            case.v_cache,
            torch.tensor([0]),
            backend=backend,
        )


def overlapping():
    return torch.zeros(1, 4, 2, 32).expand(3, 4, 2, 32)


def test_caches_to_be_written_have_a_place_for_every_slot():
    cache, rows = torch.zeros(3, 4, 2, 32), torch.zeros(1, 2, 32)
    slots = torch.tensor([0])
    with pytest.raises(ValueError, match=r"k_cache has stride 0 on axis 0 of size 3"):
        kernels.write_slots(rows, rows, overlapping(), cache, slots)
    with pytest.raises(ValueError, match=r"v_cache has stride 0 on axis 0 of size 3"):
        kernels.copy_blocks(cache, overlapping(), [(0, 1)])


def test_pairs_are_pairs():
    k_cache, v_cache = torch.zeros(2, 3, 4, 2, 32)
    for pairs in (None, 7, "ab", [(0, 10**30)]):
        with pytest.raises(ValueError, match="pairs"):
            kernels.copy_blocks(k_cache, v_cache, pairs)
