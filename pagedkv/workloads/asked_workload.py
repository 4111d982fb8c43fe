"""The workload that ``simulate`` is asked for: made by a recipe, or read from a file."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from pagedkv.workloads.makers import DEFAULT_REQUESTS, DEFAULT_SEED, RECIPES, make_workload
from pagedkv.workloads.messages import any_of, cut
from pagedkv.workloads.trace_file import LARGEST_FILE, ReadTrace, TraceError, read_trace
from pagedkv.workloads.workload import Workload, WorkloadError


@dataclass(frozen=True, slots=True)
class AskedWorkload:
    """The requests to run, the ``trace`` whose first ones they are, and how many were asked for."""

    workload: Workload
    trace: ReadTrace | None
    num_asked: int


def asked_workload(options: argparse.Namespace) -> AskedWorkload:
    """Make or read it. Raises ``WorkloadError`` for what cannot be, or is not for such a one."""
    return (_made if options.workload in RECIPES else _opened)(options)


def _made(options: argparse.Namespace) -> AskedWorkload:
    if options.skip_bad_rows:
        raise WorkloadError(f"skip-bad-rows is for files; {options.workload} has no bad rows")
    if options.rate is None and options.iteration_ms is not None:
        raise WorkloadError("iteration-ms needs rate; without it all requests are there at once")
    count = DEFAULT_REQUESTS if options.requests is None else options.requests
    seed = DEFAULT_SEED if options.seed is None else options.seed
    workload = make_workload(options.workload, count, seed, options.rate)
    return AskedWorkload(workload, None, count)


def _opened(options: argparse.Namespace) -> AskedWorkload:
    if options.rate is not None:
        raise WorkloadError("rate is for made workloads; a file brings its own arrivals")
    if options.seed is not None:
        raise WorkloadError("seed is for made workloads; nothing in a file is left to chance")
    trace = _read(options.workload, options.skip_bad_rows)
    asked = options.requests or len(trace.workload)
    return AskedWorkload(trace.workload.first(asked), trace, asked)


def _read(name: str, skip_bad_rows: bool) -> ReadTrace:
    path = Path(name)
    wanted = any_of((*RECIPES, "a file that can be read"))
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise WorkloadError(f"workload is {cut(name)}; it must be {wanted} ({reason})") from None
    try:
        return read_trace(path.name, data, skip_bad_rows=skip_bad_rows)
    except TraceError as error:
        remedy = ". --skip-bad-rows leaves them out" if error.num_bad_rows else ""
        raise WorkloadError(f"{cut(path.name)}: {error}{remedy}") from None
