"""What has to be said to a visitor, where it may repeat words that came from anybody."""

from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True, slots=True)
class Notice:
    """``head`` is ours; ``text`` may hold words from a link, a file or a field."""

    head: str
    text: str = ""


def show_notice(notice: Notice) -> None:
    """Show it; what came from anybody is text and never Markdown."""
    st.warning(notice.head, icon=":material/info:")
    if notice.text:
        st.text(notice.text)
