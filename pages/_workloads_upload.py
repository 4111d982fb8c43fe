"""A visitor's trace file: its format shown back, its bad rows named, left out only on request."""

import streamlit as st

from pagedkv.workloads import Workload
from pagedkv.workloads.trace_file import LARGEST_FILE, ReadTrace, TraceError, read_trace
from pagedkv.workloads.trace_formats import FORMATS

UPLOAD = "workloads_upload"
SKIP = "workloads_skip_{file_id}"  # asked anew for every file
OPEN = "workloads_trace"  # the trace that was read last, and of which file: in the session

MEGABYTES = LARGEST_FILE // 1_000_000
HELP = "; ".join(f"{form.name}: {', '.join(form.columns)}" for form in FORMATS)

Read = ReadTrace | TraceError


def choose_trace() -> Workload | None:
    """Let the visitor open a file; return its requests, or None where there are none."""
    upload = st.file_uploader(
        f"CSV or JSONL, up to {MEGABYTES} MB",
        key=UPLOAD,
        max_upload_size=MEGABYTES,
        help=f"Columns are found by name: {HELP}.",
    )
    if upload is None:
        st.session_state.pop(OPEN, None)
        return None
    key = SKIP.format(file_id=upload.file_id)
    skip = bool(st.session_state.get(key))
    read = _read(upload.file_id, upload.name, upload, skip)
    if isinstance(read, TraceError):
        st.warning("This file cannot be simulated as it is:", icon=":material/block:")
        st.text(str(read))  # repeats what the file says: no Markdown
        if read.num_bad_rows:
            st.checkbox(f"Leave the bad rows out ({read.num_bad_rows:,})", key=key)
        return None
    if skip:
        st.checkbox(f"Leave the bad rows out ({read.num_left_out:,})", key=key)
    _show(read)
    return read.workload


def _read(file_id: str, name: str, upload: object, skip: bool) -> Read:
    """Read a file once, however often the page runs."""
    known: tuple[tuple[str, bool], Read] | None = st.session_state.get(OPEN)
    if known is not None and known[0] == (file_id, skip):
        return known[1]
    try:
        read: Read = read_trace(name, upload.getvalue(), skip_bad_rows=skip)
    except TraceError as error:
        read = error
    st.session_state[OPEN] = ((file_id, skip), read)
    return read


def _show(read: ReadTrace) -> None:
    """The format that was recognised, and what was found and left out."""
    workload = read.workload
    st.text(
        f"Read as {read.format.name} ({', '.join(read.format.columns)}): {len(workload):,} "
        f"requests over {workload.arrivals[-1]:,.0f} s, {workload.mean_input:,.1f} tokens in and "
        f"{workload.mean_output:,.1f} out on average."
    )
    if read.num_left_out:
        with st.expander("Rows that were left out"):
            more = read.num_left_out - len(read.left_out)
            st.text("\n".join([*read.left_out, *([f"and {more:,} more"] if more else [])]))
