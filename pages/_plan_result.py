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
from pagedkv.planner import (
    Plan,
    Step,
    advice_words,
    make_steps,
    note_words,
    steps_without_memory,
    verdict_words,
    warning_words,
)
from pagedkv.planner.caveats import sharing_words
from pagedkv.planner.curves import concurrency_curves
from pagedkv.planner.memory import GIB
from pagedkv.planner.model_table import WEIGHT_BYTES
from pagedkv.planner.savings import savings
from pagedkv.planner.split import split_memory
from pages._figures import is_dark, show_figure, show_numbers

LONGEST = "Longest that fits"
LATENT_IN_BYTES = "1 B a number is the formula's; fp8 layouts of a latent may take more."
NOTHING_LEFT = "Nothing is left for KV, so no request of any length fits."
MHA_UNKNOWN = "What sharing K and V saves against MHA can be said once the query heads are known."
WEIGHTS_WANTED = (
    "How much do the weights take on each GPU? Fill in “Weights, GiB” to see how many requests "
    f"fit. A billion parameters of {WEIGHT_BYTES} bytes take {WEIGHT_BYTES * 1e9 / GIB:.2f} GiB."
)
LONGEST_HELP = "What the memory allows. The model itself may be made for shorter texts."


def show_plan(plan: Plan) -> None:
    """The answer first, then how it comes about."""
    with st.container(key="plan-numbers", horizontal=True):
        for label, value in numbers(plan):
            explanation = LONGEST_HELP if label == LONGEST else None
            st.metric(label, value, width="content", help=explanation)
    if plan.fits:
        st.markdown(f"**{verdict_words(plan)}**")
    else:
        st.warning("  \n".join([verdict_words(plan), *advice_words(plan)]), icon=":material/block:")
    for words in warning_words(plan):
        st.warning(words, icon=":material/warning:")
    if notes := note_words(plan):
        st.markdown(" ".join(notes))
    st.html(steps_html(make_steps(plan)))


def show_without_memory(plan: Plan) -> None:
    """What is known of a plan before the weights are, and that they are wanted."""
    with st.container(key="plan-numbers", horizontal=True):
        for label, value in numbers_without_memory(plan):
            st.metric(label, value, width="content")
    st.info(WEIGHTS_WANTED, icon=":material/edit:")
    for words in sharing_words(plan.choices):
        st.warning(words, icon=":material/warning:")
    st.html(steps_html(steps_without_memory(plan)))


def numbers_without_memory(plan: Plan) -> list[tuple[str, str]]:
    """What can stand large before the memory is known."""
    return [
        ("Bytes per token", f"{plan.bytes_per_token:,}"),
        ("Bytes of a block", f"{plan.block_bytes:,}"),
        ("Blocks of a request", f"{plan.blocks_per_request:,}"),
    ]


def numbers(plan: Plan) -> list[tuple[str, str]]:
    """What stands large at the top: five numbers with their names."""
    longest = "any" if plan.fits_any_length else f"{plan.max_len_that_fits:,}"
    return [
        ("Bytes per token", f"{plan.bytes_per_token:,}"),
        ("Blocks", f"{plan.num_blocks:,}"),
        ("Positions", f"{plan.cache_size_tokens:,}"),
        ("Requests at once", f"{plan.requests_at_once:,.2f}"),
        (LONGEST, longest),
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
    if plan.choices.geometry.latent is not None:
        st.markdown(LATENT_IN_BYTES)
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
