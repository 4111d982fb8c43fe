"""The page of workloads: how many requests run in one memory, simulated as often as one likes.

A study belongs to the session until it ends or is stopped. A click on Stop, or on anything else,
ends this script between two iterations: the study stays in the session, and the next script goes on
with it or shows what there is. Streamlit starts that one at once, so it waits for its turn until
this one has left.
"""

from time import monotonic

import streamlit as st

from pagedkv.workloads.sentences import progress_words
from pagedkv.workloads.study import Findings, Study
from pages._view import leave
from pages._workloads_form import show_form
from pages._workloads_result import show_findings

STUDY = "workloads_study"  # a Study on its way, in the session
STOP = "workloads_stop"  # whether the visitor has had enough of it
FINDINGS = "workloads_findings"  # what came of the last one

SECONDS_BETWEEN_NEWS = 0.1

INTRODUCTION = """
Blocks let more requests run in the same memory. How many more? Here requests arrive, grow and end
by the thousand, on paper: slots are counted, no model runs. One rule holds for all: first come,
first served.
"""


def show_workloads() -> None:
    """The form; below it a study on its way, or what came of the last one."""
    leave()
    with st.container(key="workloads-heading", horizontal=True, vertical_alignment="bottom"):
        st.title("Workloads", anchor=False, width="content")
        st.markdown(INTRODUCTION)
    study = show_form()
    if study is not None:
        let_go(STOP, FINDINGS)  # first: they are about the one before
        st.session_state[STUDY] = study
    place = st.empty()
    running: Study | None = st.session_state.get(STUDY)
    if running is not None:
        with place.container():
            watch(running)
        place.empty()
    findings: Findings | None = st.session_state.get(FINDINGS)
    if findings is not None:
        show_findings(findings)


def let_go(*keys: str) -> None:
    """Take these out of the session, if they are there."""
    for key in keys:
        st.session_state.pop(key, None)


def watch(study: Study) -> None:
    """Go on with a study to its end, and say how far it is; then keep what came of it."""
    with st.container(key="workloads_running", horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, " ")
        st.button("Stop here", icon=":material/stop:", on_click=_stop)
    last_said = 0.0

    def say(done: int, total: int) -> None:
        nonlocal last_said
        if done == total or monotonic() - last_said > SECONDS_BETWEEN_NEWS:
            # Here Streamlit may end this script; the study can go on from where it is.
            bar.progress(done / total, progress_words(study, done, total))
            last_said = monotonic()

    with study.turn:
        if not st.session_state.get(STOP):
            study.run(say)
        st.session_state[FINDINGS] = study.findings()
        let_go(STUDY, STOP)


def _stop() -> None:
    st.session_state[STOP] = True
