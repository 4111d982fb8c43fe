"""A visitor's trace file: its format shown back, its bad rows named, left out only on request.

A file that cannot be read is refused, and the one that was open stays open. Only another file, or
Close, closes it, for Streamlit empties its field when another page is open.
"""

from dataclasses import dataclass

import streamlit as st

from pagedkv.workloads import Workload
from pagedkv.workloads.trace_file import ReadTrace, TraceError, read_trace
from pagedkv.workloads.trace_formats import FORMATS, column_names
from pagedkv.workloads.trace_lines import LARGEST_FILE
from pagedkv.workloads.trace_words import needs_leaving_out, nothing_open, open_words
from pagedkv.workloads.workload import WorkloadError

UPLOAD = "workloads_upload"
SKIP = "workloads_skip_{file_id}"  # asked anew for every file
OFFERED = "workloads_offered"  # a file that was uploaded and not yet read, in the session
REFUSED = "workloads_refused"  # the last that could not be read
OPEN = "workloads_open"  # the file that is open
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


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """A file that could not be read, and why."""

    file_id: str
    name: str
    message: str


def choose_trace() -> Workload | WorkloadError:
    """Let the visitor open a file; return its requests, or why there are none."""
    upload = st.file_uploader(
        f"CSV or JSONL, up to {MEGABYTES} MB",
        key=UPLOAD,
        max_upload_size=MEGABYTES,
        on_change=_take,
        help=f"Columns are found by name: {HELP}.",
    )
    _try_offered()
    shown = None if upload is None else upload.file_id  # in the field
    has_refused = _show_refused(shown)
    file: OpenFile | None = st.session_state.get(OPEN)
    if file is None:
        return nothing_open()
    if file.file_id != shown:
        _show_open(open_words(file.name, has_refused=has_refused))
    return _show_trace(file)


def _take() -> None:
    """Keep what was uploaded, to be read soon."""
    upload = st.session_state[UPLOAD]
    if upload is not None:
        st.session_state[OFFERED] = OpenFile(upload.file_id, upload.name, upload.getvalue())


def _try_offered() -> None:
    """Open the file that was uploaded, or refuse it. A script may end here: then it is read again.

    One with bad rows is opened, for it can be read without them.
    """
    file: OpenFile | None = st.session_state.get(OFFERED)
    if file is None:
        return
    read = _read(file, skip=False)
    if isinstance(read, TraceError) and not read.num_bad_rows:
        st.session_state[REFUSED] = RefusedFile(file.file_id, file.name, str(read))
    else:
        st.session_state[OPEN] = file
        st.session_state[TRACE] = (file.file_id, False, read)
    st.session_state.pop(OFFERED, None)


def _show_refused(shown: str | None) -> bool:
    """Say why the file in the upload field could not be read, if it could not; say if so."""
    refused: RefusedFile | None = st.session_state.get(REFUSED)
    if refused is None or refused.file_id != shown:
        return False
    st.warning("This file cannot be read:", icon=":material/block:")
    st.text(f"{refused.name}: {refused.message}")  # repeats what the file says: no Markdown
    return True


def _show_open(words: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(words, width="content")
        st.button("Close", icon=":material/close:", key="workloads_close", on_click=_close)


def _close() -> None:
    for name in (OPEN, TRACE):
        st.session_state.pop(name, None)


def _show_trace(file: OpenFile) -> Workload | WorkloadError:
    """What the open file holds; its requests, or why there are none."""
    key = SKIP.format(file_id=file.file_id)
    skip = bool(st.session_state.get(key))
    read = _known(file, skip)
    if isinstance(read, TraceError):
        st.warning("This file cannot be simulated as it is:", icon=":material/block:")
        st.text(str(read))  # repeats what the file says: no Markdown
        _ask(key, read.num_bad_rows)
        return needs_leaving_out(file.name, read)
    if skip:
        _ask(key, read.num_left_out)
    _show(read)
    return read.workload


def _known(file: OpenFile, skip: bool) -> Read:
    """Read the open file once, however often the page runs."""
    known: tuple[str, bool, Read] | None = st.session_state.get(TRACE)
    if known is not None and known[:2] == (file.file_id, skip):
        return known[2]
    read = _read(file, skip)
    st.session_state[TRACE] = (file.file_id, skip, read)
    return read


def _read(file: OpenFile, skip: bool) -> Read:
    with st.spinner("Reading the file"):
        try:
            return read_trace(file.name, file.data, skip_bad_rows=skip)
        except TraceError as error:
            return error


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
