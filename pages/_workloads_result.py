"""What came of a study: its result in words, drawn, beside the paper's values, and in numbers."""

import streamlit as st

from pagedkv.figures import (
    batches_alt,
    batches_figure,
    batches_table,
    compared_table,
    savings_alt,
    savings_figure,
    savings_table,
    shares_alt,
    shares_figure,
    shares_table,
    sizes_alt,
    sizes_figure,
    sizes_table,
)
from pagedkv.workloads.figure_data import (
    batch_lines,
    compared_rows,
    savings,
    share_bars,
    size_points,
)
from pagedkv.workloads.kinds import StudyKind
from pagedkv.workloads.names import VARIED
from pagedkv.workloads.reasons import reasons
from pagedkv.workloads.sentences import finding_words, notes, workload_words
from pagedkv.workloads.study import Findings
from pages._figures import is_dark, show_figure, show_numbers


def show_findings(findings: Findings) -> None:
    """The result first, then the figures, then what the paper prints and why we differ."""
    st.header("Last run", anchor=False)  # whatever has been chosen or refused since
    about = findings.about
    st.text(f"{about.title}, {about.kind.value}")  # may have a file's name: no Markdown
    st.markdown(workload_words(findings))
    st.markdown(finding_words(findings))
    show = {
        StudyKind.POLICIES: show_policies,
        StudyKind.BLOCK_SIZES: show_sizes,
        StudyKind.SHARING: show_sharing,
    }
    show[about.kind](findings)
    show_comparison(findings)
    st.subheader("How these figures came about", anchor=False)
    st.markdown("\n".join(f"- {note}" for note in notes(findings)))


def show_policies(findings: Findings) -> None:
    """Share of memory, and requests in a batch over time."""
    left, right = st.columns(2)
    with left:
        st.subheader("What the memory holds", anchor=False)
        bars = share_bars(findings)
        show_figure(shares_figure(bars, dark=is_dark()), shares_alt(bars), "workloads_shares")
        show_numbers(shares_table(bars))
    with right:
        st.subheader("Requests in a batch", anchor=False)
        lines = batch_lines(findings)
        show_figure(batches_figure(lines, dark=is_dark()), batches_alt(lines), "workloads_batches")
        show_numbers(batches_table(lines))


def show_sizes(findings: Findings) -> None:
    """Block size against waste and batch."""
    points = size_points(findings)
    show_figure(sizes_figure(points, dark=is_dark()), sizes_alt(points), "workloads_sizes")
    show_numbers(sizes_table(points))


def show_sharing(findings: Findings) -> None:
    """What is saved with two, four and six answers."""
    groups = savings(findings)
    show_figure(savings_figure(groups, dark=is_dark()), savings_alt(groups), "workloads_savings")
    show_numbers(savings_table(groups))


def show_comparison(findings: Findings) -> None:
    """The paper's values beside ours, and why they differ where they do."""
    st.subheader("Beside the paper", anchor=False)
    rows = compared_rows(findings)
    if rows:
        varied = VARIED[findings.about.kind]
        stays = {varied: st.column_config.Column(pinned=True)}  # while the others are scrolled
        table = compared_table(rows, varied)
        st.dataframe(table, hide_index=True, height="content", column_config=stays)
    st.markdown("\n".join(f"- {reason}" for reason in reasons(findings)))
