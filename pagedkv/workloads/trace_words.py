"""What the page says of the trace that is open. A file's name is in it: it is no Markdown."""

from pagedkv.workloads.messages import counted
from pagedkv.workloads.trace_lines import TraceError
from pagedkv.workloads.workload import WorkloadError


def nothing_open() -> WorkloadError:
    """What a run is refused with where no trace is open."""
    return WorkloadError("no trace is open; upload a file that can be read")


def needs_leaving_out(name: str, error: TraceError) -> WorkloadError:
    """What a run is refused with where the open trace has bad rows that are not left out."""
    rows, them = counted(error.num_bad_rows, "bad row"), "it" if error.num_bad_rows == 1 else "them"
    return WorkloadError(f"{name} has {rows}; leave {them} out, or mend the file")


def open_words(name: str, *, has_refused: bool) -> str:
    """Which trace is open, where another was refused or the upload field does not show it."""
    return f"{name} stays open" if has_refused else f"Open: {name}"
