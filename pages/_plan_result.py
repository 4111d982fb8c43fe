"""What a plan comes to: its numbers large, each line of the arithmetic, and three figures."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from pagedkv.figures import (
    plan_concurrency_alt,
    plan_concurrency_figure,
    plan_concurrency_table,
    plan_memory_alt,
    plan_memory_figure,
    plan_memory_table,
    plan_savings_alt,
    plan_savings_figure,
    plan_savings_table,
)
from pagedkv.planner import Plan, Step, advice_words, make_steps, verdict_words
from pagedkv.planner.curves import concurrency_curves
from pagedkv.planner.savings import savings
from pagedkv.planner.split import split_memory
from pages._figures import is_dark, show_figure, show_numbers

NOTHING_LEFT = "Nothing is left for KV, so no request of any length fits."
MHA_UNKNOWN = "What sharing K and V saves against MHA can be said once the query heads are known."


def show_plan(plan: Plan) -> None:
    """The answer first, then how it comes about."""
    with st.container(key="plan-numbers", horizontal=True):
        for label, value in numbers(plan):
            st.metric(label, value, width="content")
    if plan.fits:
        st.markdown(f"**{verdict_words(plan)}**")
    else:
        st.warning("  \n".join([verdict_words(plan), *advice_words(plan)]), icon=":material/block:")
    st.html(steps_html(make_steps(plan)))


def numbers(plan: Plan) -> list[tuple[str, str]]:
    """What stands large at the top: five numbers with their names."""
    longest = "any" if plan.fits_any_length else f"{plan.max_len_that_fits:,}"
    return [
        ("Bytes per token", f"{plan.bytes_per_token:,}"),
        ("Blocks", f"{plan.num_blocks:,}"),
        ("Positions", f"{plan.cache_size_tokens:,}"),
        ("Requests at once", f"{plan.requests_at_once:,.2f}"),
        ("Longest that fits", longest),
    ]


def steps_html(lines: Sequence[Step]) -> str:
    """The arithmetic as a table; a narrow screen puts the formula below its label."""
    rows = "".join(
        f'<tr><th scope="row">{escape(step.label)}</th><td>{escape(step.formula)}</td>'
        f"<td>{escape(step.result)}</td></tr>"
        for step in lines
    )
    head = "<tr><th>What</th><th>From</th><th>Result</th></tr>"
    return f'<table class="plan-steps"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def show_figures(plan: Plan) -> None:
    """Memory and saving on the left, requests against length on the right."""
    dark = is_dark()
    left, right = st.columns(2)
    with left:
        st.subheader("How the memory splits", anchor=False)
        split = split_memory(plan)
        show_figure(
            plan_memory_figure(split, dark=dark), plan_memory_alt(split), "plan_memory_plot"
        )
        show_numbers(plan_memory_table(split))
        show_savings(plan, dark=dark)
    with right:
        st.subheader("Requests at once, by length", anchor=False)
        show_concurrency(plan, dark=dark)


def show_concurrency(plan: Plan, *, dark: bool) -> None:
    """Requests against their length, where there is memory for any."""
    if plan.choices.memory.kv_bytes <= 0:
        st.markdown(NOTHING_LEFT)
        return
    curves = concurrency_curves(plan)
    figure = plan_concurrency_figure(curves, dark=dark)
    show_figure(figure, plan_concurrency_alt(curves), "plan_concurrency_plot")
    show_numbers(plan_concurrency_table(curves))


def show_savings(plan: Plan, *, dark: bool) -> None:
    """The model beside the same model as MHA, where that can be said."""
    st.subheader("What sharing K and V saves", anchor=False)
    variants = savings(plan)
    if not variants:
        st.markdown(MHA_UNKNOWN)
        return
    figure = plan_savings_figure(variants, dark=dark)
    show_figure(figure, plan_savings_alt(variants), "plan_savings_plot")
    show_numbers(plan_savings_table(variants))
