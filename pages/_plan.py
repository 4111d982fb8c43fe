"""The planner: a real model on a real GPU, how many requests fit, and each line of why."""

import streamlit as st

from pagedkv.planner import PlanError, make_plan
from pages._plan_fields import LABELS, PREFIX, key
from pages._plan_form import choose
from pages._plan_link import refused, refused_words
from pages._plan_result import show_figures, show_plan, show_without_memory
from pages._view import PLACE, leave

HERE = "plan"  # in the session: that this page is open
NOTICES = "plan_notices"  # the fields for which the address had what cannot be

INTRODUCTION = """
From six blocks to a real GPU: how many requests fit at once, and how long may they be? Counted as
vLLM counts when it starts.
"""


def show_plan_page() -> None:
    """The fields on the left, the plan on the right, its figures below."""
    read_address()
    with st.container(key="plan-heading", horizontal=True, vertical_alignment="bottom"):
        st.title("Plan", anchor=False, width="content")
        st.markdown(INTRODUCTION)
    if bad := st.session_state[NOTICES]:
        st.warning(refused_words(bad))
    fields, result = st.columns([2, 3], gap="large")
    with fields:
        try:
            chosen = choose()
            plan = make_plan(chosen.choices)
        except PlanError as error:
            with result:
                refuse(error)
            return
    with result:
        if chosen.lacks_weights:
            show_without_memory(plan)
            return
        show_plan(plan)
    show_figures(plan)


def read_address() -> None:
    """If the visitor has just come, take out of the address what no field can hold, and tell it.

    The script then begins anew, before Streamlit reads the fields from the address: it stumbles
    over huge numbers there.
    """
    if st.session_state.get(PLACE) == HERE:
        return
    leave()
    st.session_state[PLACE] = HERE
    names = [name for name in st.query_params if name.startswith(PREFIX)]
    bad = refused({name: st.query_params.get_all(name) for name in names})
    st.session_state[NOTICES] = bad
    if bad:
        for name in bad:
            del st.query_params[key(name)]
        st.rerun()


def refuse(error: PlanError) -> None:
    """Say what would do. The message may repeat what a visitor typed, so it is no Markdown."""
    st.warning("This cannot be planned for:", icon=":material/block:")
    st.text(error.named(LABELS))
