"""The attention kernel opened: its source, and what one of its programs did, line by line.

``source`` reads the kernel's own file and says which lines a launch runs. ``walk`` puts beside each
line what the program had in hand when that line was done, as the kernel itself recorded it.
"""

from pagedkv.kernel_walk.source import KernelSource, Statement, read_kernel
from pagedkv.kernel_walk.walk import Moment, walk

__all__ = ["KernelSource", "Moment", "Statement", "read_kernel", "walk"]
