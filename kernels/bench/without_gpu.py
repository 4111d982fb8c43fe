"""What can be said without a GPU: a bound, the interpreter's cost, and plain torch on this CPU."""

from collections.abc import Iterator
from functools import partial

import torch

import kernels
from kernels.bench.rivals import Attend, gather_and_sdpa, sdpa_on_contiguous
from kernels.bench.timing import cpu_seconds
from kernels.bench.workload import Inputs, Workload, make_inputs

H200_BANDWIDTH = 4.8e12  # bytes per second; NVIDIA H200 data sheet
BOUNDED = (Workload(1, 32768), Workload(32, 4096), Workload(128, 8192))
LESSON_SHAPE = {"block_size": 4, "num_heads": 4, "num_kv_heads": 2, "head_dim": 32}


def report() -> Iterator[str]:
    """Yield the lines, each saying what kind of number it holds."""
    pace = f"{H200_BANDWIDTH / 1e12:g} TB/s (H200)"
    yield f"Bounds, not measurements: bytes to move, and the time that takes at {pace}"
    for workload in BOUNDED:
        moved = workload.kv_bytes + workload.table_bytes
        yield f"  {workload}: {moved / 1e6:,.1f} MB, {moved / H200_BANDWIDTH * 1e6:,.1f} us"
    backend = kernels.runtime()["backend"]
    yield f"A launch on this CPU ({backend}), in CPU time; says nothing about a GPU"
    for batch in (1, 4, 8):
        workload = Workload(batch, 9, dtype=torch.float32, **LESSON_SHAPE)
        seconds = cpu_seconds(ours(make_inputs(workload, torch.device("cpu"))))
        yield f"  decode of {batch} x 9: {seconds * 1e3:.1f} ms"
    yield from paged_and_dense(Workload(8, 1024, dtype=torch.float32))


def paged_and_dense(workload: Workload) -> Iterator[str]:
    """Yield what three ways to one answer cost in torch on this CPU."""
    yield f"Paged and dense in plain torch on this CPU, in CPU time of all threads; {workload}"
    inputs = make_inputs(workload, torch.device("cpu"))
    ways = {
        "dense: SDPA on KV that is contiguous already": sdpa_on_contiguous(inputs),
        "paged: this project's torch backend, argument checks included": ours(inputs, "torch"),
        "paged: gather all KV, then SDPA": gather_and_sdpa(inputs),
    }
    for name, attend in ways.items():
        yield f"  {name}: {cpu_seconds(attend, repeats=5) * 1e3:.1f} ms"


def ours(inputs: Inputs, backend: str | None = None) -> Attend:
    """What the course itself calls."""
    return partial(
        kernels.paged_attention,
        inputs.query,
        inputs.k_cache,
        inputs.v_cache,
        inputs.block_tables,
        inputs.context_lens,
        backend=backend,
    )
