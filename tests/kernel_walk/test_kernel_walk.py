"""What the kernel page shows is what the kernel recorded, beside the line that made it."""

import math
from itertools import pairwise

import pytest
import torch

import kernels
from kernels import attention_launch
from pagedkv.kernel_walk import read_kernel, walk
from pagedkv.kernel_walk.source import FILE

BLOCK_SIZES = (1, 3, 4, 16)


def recorded(block_size=4, context_lens=(11, 5), tile=4):
    """Two requests in shuffled blocks, NaN in every slot that they do not use."""
    generator = torch.Generator().manual_seed(block_size)
    width = math.ceil(max(context_lens) / block_size)
    num_blocks = len(context_lens) * width + 2
    caches = torch.randn(2, num_blocks, block_size, 2, 32, generator=generator)
    tables = torch.randperm(num_blocks, generator=generator)[: len(context_lens) * width]
    tables = tables.reshape(len(context_lens), width).to(torch.int32)
    used = torch.zeros(num_blocks, block_size, dtype=torch.bool)
    for row, length in enumerate(context_lens):
        for position in range(length):
            used[tables[row, position // block_size], position % block_size] = True
    caches[:, ~used] = torch.nan
    query = torch.randn(len(context_lens), 4, 32, generator=generator)
    lengths = torch.tensor(context_lens, dtype=torch.int32)
    arguments = (query, *caches, tables, lengths)
    return arguments, kernels.attention_steps(*arguments, tile=tile)


@pytest.mark.parametrize("tile", [1, 2, 4, 16])
@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_recorded_blocks_and_addresses_are_those_of_the_table(block_size, tile):
    (_, k_cache, _, tables, lengths), steps = recorded(block_size, tile=tile)
    stride = k_cache.stride()
    for row, length in enumerate(lengths.tolist()):
        for kv_head in range(2):
            blocks = [int(tables[row, p // block_size]) for p in range(length)]
            assert steps.block_ids[row, kv_head, :length].tolist() == blocks
            assert set(steps.block_ids[row, kv_head, length:].tolist()) <= {-1}
            assert steps.addresses[row, kv_head, :length].tolist() == [
                block * stride[0] + p % block_size * stride[1] + kv_head * stride[2]
                for p, block in enumerate(blocks)
            ]


@pytest.mark.parametrize("tile", [1, 2, 4, 16])
@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_recorded_numbers_are_those_of_a_dense_softmax_so_far(block_size, tile):
    (query, k_cache, v_cache, tables, lengths), steps = recorded(block_size, tile=tile)
    for row, length in enumerate(lengths.tolist()):
        at = [(int(tables[row, p // block_size]), p % block_size) for p in range(length)]
        for head in range(4):
            keys = torch.stack([k_cache[b, o, head // 2] for b, o in at]).double()
            values = torch.stack([v_cache[b, o, head // 2] for b, o in at]).double()
            scores = keys @ query[row, head].double() * 32**-0.5 / math.log(2)
            torch.testing.assert_close(
                steps.scores[row, head, :length].double(), scores, atol=1e-5, rtol=0
            )
            for i in range(math.ceil(length / tile)):
                so_far = scores[: (i + 1) * tile]
                weights = torch.exp2(so_far - so_far.max())
                expected = (so_far.max(), weights.sum(), weights @ values[: (i + 1) * tile])
                found = (steps.maxima, steps.denominators, steps.accumulators)
                for recorded_numbers, right in zip(found, expected, strict=True):
                    torch.testing.assert_close(
                        recorded_numbers[row, head, i + 1].double(), right, atol=1e-5, rtol=0
                    )


@pytest.mark.parametrize("tile", [1, 4, 16])
def test_recording_changes_nothing(tile, monkeypatch):
    arguments, steps = recorded(tile=tile)
    plain = kernels.paged_attention(*arguments)
    torch.testing.assert_close(steps.out, plain, atol=1e-6, rtol=0)
    # The same launch, with nothing recorded: not a bit differs.
    launch = attention_launch.launch
    monkeypatch.setattr(
        attention_launch,
        "launch",
        lambda *given, RECORD, **options: launch(*given, RECORD=False, **options),
    )
    unrecorded = kernels.attention_steps(*arguments, tile=tile)
    assert torch.equal(unrecorded.out, steps.out)
    assert unrecorded.maxima.isnan().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("num_heads", "num_kv_heads", "head_dim"), [(9, 3, 13), (8, 1, 64)])
def test_odd_shapes_and_strides_are_recorded_too(num_heads, num_kv_heads, head_dim, dtype):
    generator = torch.Generator().manual_seed(head_dim)
    k_cache = torch.randn(6, 3, num_kv_heads, head_dim, generator=generator).to(dtype)
    v_cache = torch.randn(6, num_kv_heads, 3, head_dim, generator=generator).to(dtype)
    v_cache = v_cache.transpose(1, 2)  # [6, 3, num_kv_heads, head_dim], other strides than K
    tables, lengths = torch.tensor([[5, 2, 0], [1, -1, -1]]).int(), torch.tensor([8, 2]).int()
    query = torch.randn(2, num_heads, head_dim, generator=generator).to(dtype)
    arguments = (query, k_cache, v_cache, tables, lengths)
    steps = kernels.attention_steps(*arguments, tile=2, scale=0.3)
    right = kernels.paged_attention(*arguments, scale=0.3, backend="torch")
    tolerance = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}[dtype]
    torch.testing.assert_close(steps.out, right, atol=tolerance, rtol=tolerance)
    for row, num_tiles in enumerate((4, 1)):
        answer = steps.accumulators[row, :, num_tiles] / steps.denominators[row, :, num_tiles, None]
        torch.testing.assert_close(answer, right[row].float(), atol=tolerance, rtol=tolerance)
        assert steps.maxima[row, :, : num_tiles + 1].isfinite().all()
        assert steps.maxima[row, :, num_tiles + 1 :].isnan().all()
    assert steps.block_ids[0, 0].tolist() == [5, 5, 5, 2, 2, 2, 0, 0]


@pytest.mark.parametrize("tile", [0, 3, -4, 4.0, True, "4", None])
def test_a_tile_that_is_no_power_of_two_is_refused_by_name(tile):
    with pytest.raises(ValueError, match=r"tile is .*; it must be a power of 2, at least 1"):
        recorded(tile=tile)


def test_nothing_to_read_is_refused():
    arguments, _ = recorded()
    empty = torch.zeros(2, dtype=torch.int32)
    with pytest.raises(ValueError, match="context_lens are all 0"):
        kernels.attention_steps(*arguments[:4], empty, tile=4)


def test_the_source_is_the_file_that_runs():
    source = read_kernel(recorded()[1].constexprs)
    lines = FILE.read_text().splitlines()
    assert tuple(lines[source.first_line - 1 :][: len(source.lines)]) == source.lines
    assert source.lines[0] == "@triton.jit"
    assert source.lines[1].startswith("def paged_attention_kernel(")
    assert lines[source.loop.first - 1].strip().startswith("for start in range(begin, end, TILE)")


def test_statements_are_whole_and_in_order():
    source = read_kernel(recorded()[1].constexprs)
    assert len(source.before) > 10 and len(source.body) > 15 and source.after
    for part in (source.before, source.body, source.after):
        assert all(a.last < b.first for a, b in pairwise(part))


def test_branches_follow_the_constexprs():
    constexprs = recorded()[1].constexprs
    lines = FILE.read_text().splitlines()

    def text(constexprs):
        source = read_kernel(constexprs)
        statements = (*source.before, *source.body, *source.after)
        return "\n".join(lines[s.first - 1] for s in statements)

    recording = text(constexprs)
    assert "tl.trans(k)" in recording and "k_t =" not in recording
    assert "if RECORD" in recording and "stored_weight" not in recording
    batched = text({**constexprs, "BATCH": 8, "V_STRIDES": (1,)})
    assert "k_t =" in batched and "v_slot =" in batched and "tl.trans(k)," not in batched
    assert (
        "m_group, in_group =" not in recording
    )  # two heads of a group make a tile without padding
    assert "m_group, in_group =" in text({**constexprs, "BLOCK_M": 16})
    assert "tl.store(sums" in text({**constexprs, "SPLIT": True})


def test_an_unknown_condition_is_not_guessed():
    _, steps = recorded()
    with pytest.raises(NameError, match="BATCH"):
        read_kernel({name: value for name, value in steps.constexprs.items() if name != "BATCH"})


def test_a_walk_visits_every_tile_line_by_line():
    _, steps = recorded()
    source = read_kernel(steps.constexprs)
    walked = walk(steps, 0, 2)
    moments = walked.moments
    assert walked.num_tiles == 3
    assert [m.statement for m in moments if m.tile is None] == [*source.before, *source.after]
    for tile, positions in enumerate([range(4), range(4, 8), range(8, 11)]):
        own = [m for m in moments if m.tile == tile]
        assert [m.statement for m in own] == [source.loop, *source.body]
        assert {m.positions for m in own} == {positions}
        assert moments[walked.begin_of(tile)] is own[0]
    for tile in (-1, 3):
        with pytest.raises(ValueError, match=f"tile is {tile}; the loop ran for 0 to 2"):
            walked.begin_of(tile)


def test_a_value_appears_with_its_line_and_not_before():
    _, steps = recorded()
    lines = FILE.read_text().splitlines()
    made = {}
    for moment in (m for m in walk(steps, 1, 3).moments if m.tile == 1):
        for name in ("block_ids", "addresses", "scores"):
            value = getattr(moment, name)
            if name in moment.new:
                made[name] = lines[moment.statement.first - 1].strip()
            assert (value is not None) == (name in made)
        for name in ("maximum", "denominator", "accumulator"):
            recorded_name = {"maximum": "maxima"}.get(name, f"{name}s")
            tensor = getattr(steps, recorded_name)[1, 3]
            if name in moment.new:
                made[name] = lines[moment.statement.first - 1].strip()
            right = tensor[2 if name in made else 1]  # 0 is where it began
            assert torch.equal(torch.tensor(getattr(moment, name)), right)
    assert made == {
        "block_ids": "block = block.to(tl.int64)  # block * stride passes 2**31 in a pool of 4 GiB",
        "addresses": "k_slot = block * K_STRIDES[0] + (offset * K_STRIDES[1] + kv_head * "
        "K_STRIDES[2])",
        "scores": 'qk = tl.where(seen, (qk * SCORE_SCALE).to(tl.float32), float("-inf"))',
        "maximum": "m_i = m_new",
        "denominator": "l_i = l_i * alpha + tl.reduce(p, 1, plus)",
        "accumulator": "acc = acc * alpha[:, None] + pv.to(tl.float32)",
    }


def test_running_numbers_begin_where_the_kernel_begins_them():
    _, steps = recorded()
    walked = walk(steps, 0, 1)
    lines = FILE.read_text().splitlines()
    begun = {}
    for moment in walked.moments[: walked.begin_of(0) + 1]:
        for name in moment.new:
            begun[name] = lines[moment.statement.first - 1].split("=")[0].strip()
        for name in ("maximum", "denominator", "accumulator"):
            assert (getattr(moment, name) is not None) == (name in begun)
    assert begun == {"maximum": "m_i", "denominator": "l_i", "accumulator": "acc"}
    first = walked.moments[walked.begin_of(0)]
    assert first.maximum == torch.finfo(torch.float32).min
    assert (first.denominator, set(first.accumulator)) == (0.0, {0.0})


def test_the_answer_is_there_once_it_is_stored():
    _, steps = recorded()
    walked = walk(steps, 0, 1)
    stored = [moment for moment in walked.moments if "out" in moment.new]
    assert len(stored) == 1 and stored[0].out == tuple(steps.out[0, 1].tolist())
    after = walked.moments.index(stored[0])
    assert all(moment.out is None for moment in walked.moments[:after])
    assert all(moment.out == stored[0].out for moment in walked.moments[after:])
    answer = torch.tensor(stored[0].accumulator) / stored[0].denominator
    torch.testing.assert_close(answer, steps.out[0, 1], atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("row", "head", "message"),
    [
        (2, 0, "row is 2; it must be from 0 to 1"),
        (0, 4, "head is 4; it must be from 0 to 3"),
        (-1, 0, "row is -1; it must be from 0 to 1"),
    ],
)
def test_a_walk_refuses_what_the_launch_did_not_have(row, head, message):
    _, steps = recorded()
    with pytest.raises(ValueError, match=message):
        walk(steps, row, head)


def test_an_empty_context_is_not_walked():
    arguments, _ = recorded()
    steps = kernels.attention_steps(*arguments[:4], torch.tensor([11, 0]).int(), tile=4)
    with pytest.raises(ValueError, match="row 1 has an empty context"):
        walk(steps, 1, 0)


def test_a_second_loop_is_refused():
    _, steps = recorded()
    with pytest.raises(ValueError, match="has 2 loops"):
        read_kernel({**steps.constexprs, "WEIGHTS": True})


def test_a_launch_that_does_not_record_runs_no_recording():
    _, steps = recorded()
    plain = read_kernel({**steps.constexprs, "RECORD": False})
    both = read_kernel(steps.constexprs)
    assert len(both.before) == len(plain.before) + 1
    assert len(both.body) == len(plain.body) + 1
