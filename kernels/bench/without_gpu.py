"""What can be said without a GPU: a bound, the interpreter's cost, and plain torch on this CPU."""

from collections.abc import Iterator
from functools import partial

import torch

import kernels
from kernels.bench.rivals import gather_and_sdpa, sdpa_on_contiguous
from kernels.bench.timing import cpu_seconds
from kernels.bench.workload import Workload, make_inputs

H200_BANDWIDTH = 4.8e12  # bytes per second; NVIDIA H200 data sheet
BOUNDED = (Workload(1, 32768), Workload(32, 4096), Workload(128, 8192))
LESSON_SHAPE = {"block_size": 4, "num_heads": 4, "num_kv_heads": 2, "head_dim": 32}


def report() -> Iterator[str]:
    """Yield the lines, each saying what kind of number it holds."""
    yield "Bounds, not measurements: bytes to move, and the time that takes at 4.8 TB/s (H200)"
    for workload in BOUNDED:
        moved = workload.kv_bytes + workload.table_bytes
        yield f"  {workload}: {moved / 1e6:,.1f} MB, {moved / H200_BANDWIDTH * 1e6:,.1f} us"
    backend = kernels.runtime()["backend"]
    yield f"A launch on this CPU ({backend}), in CPU time; says nothing about a GPU"
    for batch in (1, 4, 8):
        workload = Workload(batch, 9, dtype=torch.float32, **LESSON_SHAPE)
        inputs = make_inputs(workload, torch.device("cpu"))
        arguments = (
            inputs.query,
            inputs.k_cache,
            inputs.v_cache,
            inputs.block_tables,
            inputs.context_lens,
        )
        seconds = cpu_seconds(partial(kernels.paged_attention, *arguments))
        yield f"  decode of {batch} x 9: {seconds * 1e3:.1f} ms"
    yield "The price of gathering in plain torch on this CPU"
    workload = Workload(8, 1024, dtype=torch.float32)
    inputs = make_inputs(workload, torch.device("cpu"))
    contiguous, gathered = (
        cpu_seconds(build(inputs), repeats=5) for build in (sdpa_on_contiguous, gather_and_sdpa)
    )
    yield f"  {workload}: SDPA {contiguous * 1e3:.1f} ms, gather + SDPA {gathered * 1e3:.1f} ms"
