"""The three operations as Triton kernels; imported only where Triton is used."""

from kernels.attention_kernel import paged_attention
from kernels.copy_kernel import copy_blocks
from kernels.write_kernel import write_slots

__all__ = ["copy_blocks", "paged_attention", "write_slots"]
