"""Start a Triton kernel, compiled or interpreted, from any thread.

Compiled kernels may be started by many threads at once. The interpreter may not: for the length of
a launch it replaces functions of ``triton.language`` and keeps the program id in a global, so a
second launch beside it would pull both from under the first. A server has a thread per visitor;
hence one lock, held while a kernel is interpreted.
"""

import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import triton
import triton.language as tl

from kernels.backend import CHOICE

INTERPRETED = CHOICE.interpreted

# The type of positions and other index arithmetic that stays small. The interpreter checks every
# int32 result for overflow, three further operations each; int64 is spared that. On a GPU 32-bit
# integers take half the registers. A block's address is int64 in both.
INDEX = tl.int64 if INTERPRETED else tl.int32

# An interpreted operation costs some 50 µs of Python whether it is on 16 or on 16,000 numbers, so
# the whole batch becomes one program, as long as its largest tile has no more elements than this.
INTERPRETED_TILE = 1 << 18

_one_at_a_time = threading.Lock()


def launch(kernel: Any, grid: tuple[int, ...], *arguments: Any, **options: Any) -> None:
    """Run a grid of programs of ``kernel`` on the device of the first argument, a tensor."""
    with _guard(arguments[0].device):
        kernel[grid](*arguments, **options)


def next_power_of_2(n: int) -> int:
    """The smallest power of 2 that is not below ``n``; tile axes must have such lengths."""
    return int(triton.next_power_of_2(max(n, 1)))


def _guard(device: torch.device) -> AbstractContextManager[Any]:
    if INTERPRETED:
        return _one_at_a_time
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()
