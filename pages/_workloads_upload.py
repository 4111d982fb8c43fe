"""A visitor's trace file: its format shown back, its bad rows named, left out only on request."""

from dataclasses import dataclass

import streamlit as st

from pagedkv.workloads import Workload
from pagedkv.workloads.trace_file import ReadTrace, TraceError, read_trace
from pagedkv.workloads.trace_formats import FORMATS, column_names
from pagedkv.workloads.trace_lines import LARGEST_FILE

UPLOAD = "workloads_upload"
SKIP = "workloads_skip_{file_id}"  # asked anew for every file
OPEN = "workloads_open"  # the open file, in the session: the widget loses it on another page
TRACE = "workloads_trace"  # what it was read as, and with or without its bad rows

MEGABYTES = LARGEST_FILE // 1_000_000
HELP = "; ".join(f"{form.name}: {column_names(form)}" for form in FORMATS)

Read = ReadTrace | TraceError


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file as it was uploaded; ``file_id`` tells it from another of the same name."""

    file_id: str
    name: str
    data: bytes


def choose_trace() -> Workload | None:
    """Let the visitor open a file; return its requests, or None where there are none."""
    st.file_uploader(
        f"CSV or JSONL, up to {MEGABYTES} MB",
        key=UPLOAD,
        max_upload_size=MEGABYTES,
        on_change=_take,
        help=f"Columns are found by name: {HELP}.",
    )
    file: OpenFile | None = st.session_state.get(OPEN)
    if file is None:
        return None
    key = SKIP.format(file_id=file.file_id)
    skip = bool(st.session_state.get(key))
    read = _read(file, skip)
    if st.session_state.get(UPLOAD) is None:  # the widget is empty after another page
        st.text(f"Open: {file.name}")
    if isinstance(read, TraceError):
        st.warning("This file cannot be simulated as it is:", icon=":material/block:")
        st.text(str(read))  # repeats what the file says: no Markdown
        if read.num_bad_rows:
            _ask(key, read.num_bad_rows)
        return None
    if skip:
        _ask(key, read.num_left_out)
    _show(read)
    return read.workload


def _take() -> None:
    """Keep what was uploaded, or nothing once it is taken away."""
    upload = st.session_state[UPLOAD]
    st.session_state[OPEN] = upload and OpenFile(upload.file_id, upload.name, upload.getvalue())
    st.session_state.pop(TRACE, None)


def _read(file: OpenFile, skip: bool) -> Read:
    """Read a file once, however often the page runs."""
    known: tuple[bool, Read] | None = st.session_state.get(TRACE)
    if known is not None and known[0] == skip:
        return known[1]
    with st.spinner("Reading the file"):
        try:
            read: Read = read_trace(file.name, file.data, skip_bad_rows=skip)
        except TraceError as error:
            read = error
    st.session_state[TRACE] = (skip, read)
    return read


def _ask(key: str, num_rows: int) -> None:
    st.checkbox(f"Leave the bad rows out ({num_rows:,})", key=key, persist_state="session")


def _show(read: ReadTrace) -> None:
    """The format that was recognised, and what was found and left out."""
    workload = read.workload
    st.text(
        f"Read as {read.format.name} ({column_names(read.format)}): {len(workload):,} "
        f"requests over {workload.arrivals[-1]:,.0f} s, {workload.mean_input:,.1f} tokens in and "
        f"{workload.mean_output:,.1f} out on average."
    )
    if read.num_left_out:
        with st.expander("Rows that were left out"):
            more = read.num_left_out - len(read.left_out)
            st.text("\n".join([*read.left_out, *([f"and {more:,} more"] if more else [])]))
