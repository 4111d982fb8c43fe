"""The measurement on a GPU: our kernel against the machine's own copy, and against its rivals."""

from collections.abc import Callable, Iterator

import torch

from kernels import triton_backend
from kernels.bench.answers import AnotherAnswer, check_against_oracle, check_against_ours
from kernels.bench.goals import COMPARED, Goal, goals
from kernels.bench.rivals import RIVALS, Attend
from kernels.bench.timing import copy_bandwidth, gpu_seconds
from kernels.bench.workload import Inputs, Workload, make_inputs

WORKLOADS = (
    Workload(1, 1024),
    Workload(1, 8192),
    Workload(1, 32768),
    Workload(8, 4096),
    COMPARED,
    Workload(128, 8192),
)


def measure() -> Iterator[str | Goal]:
    """Yield a line for each result as it becomes known, and the goals at the end.

    Raises ``AnotherAnswer`` where our own kernel is wrong at a size that is measured.
    """
    bandwidth = copy_bandwidth()
    yield f"copy bandwidth of {torch.cuda.get_device_name()}: {bandwidth / 1e12:.2f} TB/s"
    seconds: dict[Workload, float] = {}
    in_order, rivals = None, {}
    for workload in WORKLOADS:
        inputs = make_inputs(workload, torch.device("cuda"))
        seconds[workload] = our_seconds(inputs)
        share = workload.kv_bytes / seconds[workload] / bandwidth
        yield f"{workload}: {seconds[workload] * 1e6:,.1f} us, {share:.2f} of copy bandwidth"
        if workload == COMPARED:
            in_order = our_seconds(inputs.in_order())
            yield f"{workload}, blocks in order: {in_order * 1e6:,.1f} us"
            for name, build in RIVALS.items():
                result = rival_seconds(build, inputs)
                if isinstance(result, float):
                    rivals[name] = result
                    result = f"{result * 1e6:,.1f} us"
                yield f"{name}: {result}"
        del inputs  # or the next workload's would have to fit beside them
    yield from goals(seconds, in_order, rivals, bandwidth)


def ours(inputs: Inputs) -> Attend:
    """Our kernel without the argument checks, which wait for the device to deliver ids."""
    return lambda: triton_backend.paged_attention(
        inputs.query,
        inputs.k_cache,
        inputs.v_cache,
        inputs.block_tables,
        inputs.context_lens,
        longest=inputs.workload.context_len,
        scale=inputs.workload.head_dim**-0.5,
        weights=None,
    )


def our_seconds(inputs: Inputs) -> float:
    """The time of our kernel; raises ``AnotherAnswer`` if what it computes is wrong."""
    attend = ours(inputs)
    try:
        check_against_oracle(attend(), inputs)
    except AnotherAnswer as error:
        raise AnotherAnswer(f"{inputs.workload}: {error}") from None
    return gpu_seconds(attend)


def rival_seconds(build: Callable[[Inputs], Attend], inputs: Inputs) -> float | str:
    """The time of a rival, or why there is none: it is not there, refuses, or disagrees with us."""
    try:
        attend = build(inputs)
        check_against_ours(attend(), ours(inputs)())
        return gpu_seconds(attend)
    except AnotherAnswer as error:
        return f"not measured (another answer: {error})"
    except Exception as error:  # anything that another project's code may raise
        return f"not measured ({type(error).__name__}: {first_line(error)})"


def first_line(error: Exception) -> str:
    """What an exception says, without the pages that a compiler may add."""
    return str(error).strip().partition("\n")[0]
