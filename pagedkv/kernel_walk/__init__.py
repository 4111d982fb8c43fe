"""The attention kernel opened: its source, and what one of its programs did, line by line.

``source`` reads the kernel's own file and says which lines a launch runs. ``walk`` puts beside each
line what the program had in hand when that line was done, as the kernel itself recorded it.
``launch`` runs the kernel on an experiment's scene, ``as_html`` draws a moment and ``caption`` says
where it stands.
"""

from pagedkv.kernel_walk.as_html import source_html, state_html
from pagedkv.kernel_walk.caption import introduction, where
from pagedkv.kernel_walk.launch import RecordedLaunch, record_launch
from pagedkv.kernel_walk.source import KernelSource, Statement, kernel_text, read_kernel
from pagedkv.kernel_walk.walk import Moment, Walk, walk

__all__ = [
    "KernelSource",
    "Moment",
    "RecordedLaunch",
    "Statement",
    "Walk",
    "introduction",
    "kernel_text",
    "read_kernel",
    "record_launch",
    "source_html",
    "state_html",
    "walk",
    "where",
]
