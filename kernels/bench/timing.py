"""How time is taken: on a GPU from CUDA graphs with a cold L2 cache, on a CPU as CPU time."""

import time
from collections.abc import Callable
from statistics import median

import torch

REPEATS = 20
L2_BYTES = 256 * 1024 * 1024  # five times the L2 cache of an H200 (50 MB)

Work = Callable[[], object]


def gpu_seconds(work: Work, repeats: int = REPEATS) -> float:
    """The median time of ``work`` on the current GPU.

    Launches are captured in a CUDA graph, so that Python's share does not count; before each replay
    the L2 cache is overwritten, so that K and V come from memory, as they would in a model.
    """
    work()  # compiles
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        work()
    flush = torch.empty(L2_BYTES, dtype=torch.uint8, device="cuda")
    return median(_one_replay(graph, flush) for _ in range(repeats))


def _one_replay(graph: torch.cuda.CUDAGraph, flush: torch.Tensor) -> float:
    begin = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    end = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    flush.zero_()
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1000


def cpu_seconds(work: Work, repeats: int = REPEATS) -> float:
    """The median CPU time of ``work`` in this process."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return median(times)


def copy_bandwidth() -> float:
    """Bytes per second that this GPU's own copy reads and writes: the ceiling for everything."""
    source = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    destination = torch.empty_like(source)
    return 2 * source.numel() / gpu_seconds(lambda: destination.copy_(source))
