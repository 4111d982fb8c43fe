"""The measurement on a GPU: our kernel against the machine's own copy, and against its rivals."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from kernels import triton_backend
from kernels.bench.rivals import RIVALS
from kernels.bench.timing import Work, copy_bandwidth, gpu_seconds
from kernels.bench.workload import Inputs, Workload, make_inputs

WORKLOADS = (
    Workload(1, 1024),
    Workload(1, 8192),
    Workload(1, 32768),
    Workload(8, 4096),
    Workload(32, 4096),
    Workload(128, 8192),
)
COMPARED = Workload(32, 4096)  # 537 MB of K and V
LARGE = 500_000_000  # bytes of K and V from which on bandwidth counts


@dataclass(frozen=True, slots=True)
class Goal:
    """A ratio to reach, and what it was; ``reached`` is None where it could not be measured."""

    what: str
    wanted: str
    measured: str
    reached: bool | None


def measure() -> Iterator[str | Goal]:
    """Yield lines of progress and, as they become known, the goals."""
    bandwidth = copy_bandwidth()
    yield f"copy bandwidth of {torch.cuda.get_device_name()}: {bandwidth / 1e12:.2f} TB/s"
    for workload in WORKLOADS:
        inputs = make_inputs(workload, torch.device("cuda"))
        seconds = gpu_seconds(ours(inputs))
        share = workload.kv_bytes / seconds / bandwidth
        yield f"{workload}: {seconds * 1e6:,.1f} us, {share:.2f} of copy bandwidth"
        if workload == COMPARED and workload.kv_bytes >= LARGE:
            yield Goal("share of copy bandwidth", ">= 0.88", f"{share:.2f}", share >= 0.88)
            yield from _compare(inputs, seconds)
        del inputs


def ours(inputs: Inputs) -> Work:
    """Our kernel without the argument checks, which wait for the device to deliver ids."""
    longest, scale = inputs.workload.context_len, inputs.workload.head_dim**-0.5
    return lambda: triton_backend.paged_attention(
        inputs.query,
        inputs.k_cache,
        inputs.v_cache,
        inputs.block_tables,
        inputs.context_lens,
        longest,
        scale,
        None,
    )


def _compare(inputs: Inputs, seconds: float) -> Iterator[str | Goal]:
    in_order = seconds / gpu_seconds(ours(inputs.in_order()))
    yield Goal("permuted table / table in order", "<= 1.02", f"{in_order:.3f}", in_order <= 1.02)
    times = {}
    for name, build in RIVALS.items():
        try:
            times[name] = gpu_seconds(build(inputs))
            yield f"{name}: {times[name] * 1e6:,.1f} us"
        except Exception as error:  # anything that another project's code may raise
            yield f"{name}: not measured ({type(error).__name__}: {str(error).splitlines()[:1]})"
    goals = (
        ("time / SDPA's on contiguous KV", "SDPA, KV contiguous", "<= 1.0", False, 1.0),
        ("times faster than gather + SDPA", "gather + SDPA", ">= 3", True, 3.0),
        ("share of FlashInfer's speed", "FlashInfer", ">= 0.95", True, 0.95),
    )
    for what, name, wanted, larger_is_better, bound in goals:
        if name not in times:
            yield Goal(what, wanted, "not measured", None)
        elif larger_is_better:
            ratio = times[name] / seconds
            yield Goal(what, wanted, f"{ratio:.2f}", ratio >= bound)
        else:
            ratio = seconds / times[name]
            yield Goal(what, wanted, f"{ratio:.2f}", ratio <= bound)
