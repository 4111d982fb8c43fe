"""Ways to keep a sandbox session and to hand it on: the address, a file, a Python script."""

import streamlit as st

from pagedkv.sandbox.as_file import LARGEST_FILE, to_file
from pagedkv.sandbox.script import Script
from pages._sandbox_state import open_file

FORMS = "sandbox_forms"
UPLOAD = "sandbox_upload"


def show_sharing(script: Script, python: str) -> None:
    """Three forms of the same session."""
    forms = st.expander("Keep and share this session", key=FORMS, on_change="rerun")
    if not forms.open:  # what nobody sees need not be sent after every action
        return
    with forms:
        st.markdown(
            "The address of this page holds the whole session; whoever opens it sees what you see. "
            "It can also be kept as a small file, or done again in Python."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.download_button(
                "Download as a file",
                to_file(script),
                "sandbox.json",
                "application/json",
                icon=":material/download:",
                on_click="ignore",
            )
            st.file_uploader(
                f"Open a file (JSON, up to {LARGEST_FILE // 1024} KB)",
                key=UPLOAD,
                on_change=_open_upload,
                max_upload_size=1,
            )
        st.code(python, language="python", height=300)


def _open_upload() -> None:
    upload = st.session_state[UPLOAD]
    if upload is not None:
        open_file(upload.getvalue())
