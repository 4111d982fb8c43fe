# mypy: disable-error-code="no-untyped-def, untyped-decorator, misc"
"""Join the parts of a split context into one softmax: the second step of split-KV attention.

Each split ``s`` left its own normalised output and the logarithm of its sum of exponentials, in
base 2. Over all splits (Dao et al. 2023, Flash-Decoding):

    log_sum = log2(sum over s of 2 ** log_sum_s)
    out     = sum over s of 2 ** (log_sum_s - log_sum) * out_s

A split that lies past a row's context has the least log_sum there is and so a share of 0.

The log sums of one row and head are few numbers and are held at once. The outputs are not: 128
splits of a head_dim of 128 would be 512 registers a thread for a single warp, and there are 255. So
they are added up ``CHUNK`` splits at a time, with shares that are final before the first is read.
"""

import triton
import triton.language as tl
from triton.language.standard import _elementwise_max as larger
from triton.language.standard import _sum_combine as plus


@triton.jit
def paged_attention_reduce_kernel(
    parts, log_sums, context_lens, out, weights,
    num_row_heads, weights_width,
    NUM_HEADS: tl.constexpr, HEAD_DIM: tl.constexpr, NUM_SPLITS: tl.constexpr,
    SPLITS: tl.constexpr, CHUNK: tl.constexpr, BLOCK_D: tl.constexpr, TILE: tl.constexpr,
    WEIGHTS: tl.constexpr,
):  # fmt: skip
    """Join the splits of one row and head, ``CHUNK`` of them at a time.

    ``SPLITS`` is ``NUM_SPLITS`` and ``BLOCK_D`` is ``HEAD_DIM``, each padded to a power of two;
    ``CHUNK`` is one too and divides ``SPLITS``.
    """
    row_head = tl.program_id(0).to(tl.int64)
    split = tl.arange(0, SPLITS).to(tl.int64)
    log_sum = tl.load(
        log_sums + split * num_row_heads + row_head, mask=split < NUM_SPLITS, other=float("-inf")
    )  # [SPLITS]
    largest = tl.reduce(log_sum, 0, larger)
    total = tl.reduce(tl.exp2(log_sum - largest), 0, plus)  # 1 at least

    dim = tl.arange(0, BLOCK_D).to(tl.int64)
    in_chunk = tl.arange(0, CHUNK).to(tl.int64)
    joined = tl.full([BLOCK_D], 0.0, tl.float32)
    for first in range(0, NUM_SPLITS, CHUNK):
        exists = first + in_chunk < NUM_SPLITS
        at = (first + in_chunk) * num_row_heads + row_head  # [CHUNK]
        part_log_sum = tl.load(log_sums + at, mask=exists, other=float("-inf"))
        share = tl.exp2(part_log_sum - largest) / total  # [CHUNK], of 1
        part = tl.load(
            parts + (at * HEAD_DIM)[:, None] + dim,
            mask=exists[:, None] & (dim < HEAD_DIM),
            other=0.0,
        )  # [CHUNK, BLOCK_D]
        joined += tl.reduce(part * share[:, None], 0, plus)
    tl.store(out + row_head * HEAD_DIM + dim, joined, mask=dim < HEAD_DIM)

    if WEIGHTS:  # the splits left raw scores, for none of them knew the whole sum
        context_len = tl.load(context_lens + row_head // NUM_HEADS)
        for start in range(0, context_len, TILE):
            position = start + tl.arange(0, TILE)
            seen = position < context_len
            score_at = weights + row_head * weights_width + position
            score = tl.load(score_at, mask=seen, other=float("-inf"))
            tl.store(score_at, tl.exp2(score - largest) / total, mask=seen)
