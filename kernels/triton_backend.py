"""The operations as Triton kernels; imported only where Triton is used."""

from kernels.attention_launch import paged_attention, paged_prefill
from kernels.copy_kernel import copy_blocks
from kernels.write_kernel import write_slots

__all__ = ["copy_blocks", "paged_attention", "paged_prefill", "write_slots"]
