"""Is what is being timed the same computation? Answers are compared before a time counts."""

import torch

from kernels.bench.workload import Inputs
from kernels.correctness import BOUNDS
from kernels.dense_attention import dense_attention


class AnotherAnswer(RuntimeError):
    """What was to be timed computes something else; says how far off it is."""


def check_against_oracle(out: torch.Tensor, inputs: Inputs) -> None:
    """Compare the first and the last sequence of ``out`` with the float64 oracle.

    ``out`` is [batch, num_heads, head_dim]. Raises ``AnotherAnswer`` where it is further off than
    the dtype's bound in ``kernels.correctness``.
    """
    rows = sorted({0, inputs.workload.batch - 1})
    expected = [dense_attention(inputs.query[row], *inputs.context(row))[0] for row in rows]
    check_same(out[rows], torch.stack(expected), BOUNDS[inputs.workload.dtype])


def check_against_ours(out: torch.Tensor, ours: torch.Tensor) -> None:
    """Compare a rival's answer with ours, both [batch, num_heads, head_dim] of the same dtype.

    Raises ``AnotherAnswer`` where they are further apart than two right answers can be: each may be
    off by the dtype's bound, in opposite directions.
    """
    check_same(out, ours, 2 * BOUNDS[ours.dtype])


def check_same(out: torch.Tensor, expected: torch.Tensor, bound: float) -> None:
    """Raise ``AnotherAnswer`` if any head's relative difference exceeds ``bound``, or is NaN.

    The difference is as in ``kernels.correctness``: its L2 norm over that of ``expected``, per row
    and head; the largest counts. Both are [rows, num_heads, head_dim].
    """
    if out.shape != expected.shape:
        raise AnotherAnswer(f"shape {list(out.shape)}, not {list(expected.shape)}")
    expected = expected.double()
    difference = (out.double() - expected).norm(dim=-1) / expected.norm(dim=-1)
    if not bool((difference <= bound).all()):  # a NaN is not within any bound
        raise AnotherAnswer(f"{float(difference.max()):.1e}")
