# mypy: disable-error-code="no-untyped-def, untyped-decorator, misc"
"""Join the parts of a split context into one softmax: the second step of split-KV attention.

Each split ``s`` left the largest score that it saw, and relative to that its denominator (a sum of
exponentials) and its output (a sum of V, not yet divided). Over all splits (Dao et al. 2023,
Flash-Decoding):

    factor_s = 2 ** (maximum_s - largest maximum)
    out      = sum over s of factor_s * out_s / sum over s of factor_s * denominator_s

The maximum is kept beside the denominator. The logarithm that would say both in one number would be
rounded where a difference of two maxima is exact. A split that lies past a row's context has the
least maximum there is and so a factor of 0.

The sums of one row and head are few numbers and are held at once. The outputs are not: 128 splits
of a head_dim of 128 would be 512 registers a thread for a single warp, and there are 255. So they
are added up ``CHUNK`` splits at a time.
"""

import triton
import triton.language as tl
from triton.language.standard import _elementwise_max as larger
from triton.language.standard import _sum_combine as plus


@triton.jit
def paged_attention_reduce_kernel(
    parts, sums, context_lens, out, weights,
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
    sums_at = sums + 2 * (split * num_row_heads + row_head)  # [SPLITS]
    maximum = tl.load(sums_at, mask=split < NUM_SPLITS, other=float("-inf"))
    denominator = tl.load(sums_at + 1, mask=split < NUM_SPLITS, other=0.0)
    largest = tl.reduce(maximum, 0, larger)
    total = tl.reduce(denominator * tl.exp2(maximum - largest), 0, plus)
    total = tl.maximum(total, 1.0)  # the largest score counted 1; less means an empty context

    dim = tl.arange(0, BLOCK_D).to(tl.int64)
    in_chunk = tl.arange(0, CHUNK).to(tl.int64)
    joined = tl.full([BLOCK_D], 0.0, tl.float32)
    for first in range(0, NUM_SPLITS, CHUNK):
        exists = first + in_chunk < NUM_SPLITS
        at = (first + in_chunk) * num_row_heads + row_head  # [CHUNK]
        part_maximum = tl.load(sums + 2 * at, mask=exists, other=float("-inf"))
        factor = tl.exp2(part_maximum - largest)  # [CHUNK]
        part = tl.load(
            parts + (at * HEAD_DIM)[:, None] + dim,
            mask=exists[:, None] & (dim < HEAD_DIM),
            other=0.0,
        )  # [CHUNK, BLOCK_D]
        joined += tl.reduce(part * factor[:, None], 0, plus)
    tl.store(out + row_head * HEAD_DIM + dim, joined / total, mask=dim < HEAD_DIM)

    if WEIGHTS:  # the splits left raw scores, for none of them knew the whole sum
        context_len = tl.load(context_lens + row_head // NUM_HEADS)
        for start in range(0, context_len, TILE):
            position = start + tl.arange(0, TILE)
            seen = position < context_len
            score_at = weights + row_head * weights_width + position
            score = tl.load(score_at, mask=seen, other=float("-inf"))
            tl.store(score_at, tl.exp2(score - largest) / total, mask=seen)
