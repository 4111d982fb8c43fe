"""The fields of the workloads form. Each keeps its value while others stand in its place.

A field that is not drawn, for it says nothing about what is chosen now, or because another page
is open, has its value again when it comes back.
"""

import streamlit as st

from pagedkv.workloads import POLICIES, RANGES, Setup
from pagedkv.workloads.names import NAMES
from pagedkv.workloads.paper import RATES
from pagedkv.workloads.ranges import (
    HIGHEST_RATE,
    LEAST_RATE,
    LONGEST_ITERATION,
    SHORTEST_ITERATION,
)
from pages._whole_number import whole_number

WIDTH = 150  # pixels of a number
DEFAULTS = Setup()
AT_ONCE, BY_CHANCE = "all at once", "by chance, at a rate"

POLICIES_HELP = (
    "Max reserves the model's maximum length in one piece, Pow2 the answer rounded up to a power "
    "of two, Oracle just what will be filled. Paged takes blocks as tokens come."
)


def key(name: str) -> str:
    """The field's name in the session."""
    return f"workloads_{name}"


def whole(name: str, label: str, value: int, most: int | None = None) -> int:
    """Draw a whole number from ``RANGES``, up to ``most`` where that is less."""
    least, last = RANGES[name][0], most or RANGES[name][-1]
    number = whole_number(
        label,
        range(least, last + 1),
        value,
        key=key(name),
        width=WIDTH,
        persist_state="session",
    )
    assert number is not None  # a field with a usual number is never empty
    return number


def first_requests() -> int | None:
    """How many requests of a trace, from its first on; None for all."""
    return whole_number(
        "Requests",
        RANGES["requests"],
        None,
        key=key("first"),
        width=WIDTH,
        placeholder="all",
        help="So many of the trace, from its first on. Empty: all of them.",
        persist_state="session",
    )


def requests_a_second(recipe: str) -> float | None:
    """At which rate made requests arrive, or None for all at once."""
    arrivals = st.selectbox(
        "Arrivals",
        (AT_ONCE, BY_CHANCE),
        key=key("arrivals"),
        width=200,
        help="All at once: the queue is never empty, until it ends. Else a Poisson process.",
        persist_state="session",
    )
    if arrivals == AT_ONCE:
        return None
    return float(
        st.number_input(
            "Requests a second",
            LEAST_RATE,
            HIGHEST_RATE,
            RATES[recipe],
            key=key(f"rate_{recipe}"),
            width=WIDTH,
            persist_state="session",
        )
    )


def is_at_once() -> bool:
    """Whether a trace's arrivals are set aside."""
    return st.checkbox("All at once", key=key("at_once"), persist_state="session")


def milliseconds() -> float:
    """How long an iteration takes; to be asked only where requests arrive by the clock."""
    return float(
        st.number_input(
            "Iteration, ms",
            SHORTEST_ITERATION,
            LONGEST_ITERATION,
            DEFAULTS.iteration_ms,
            key=key("iteration"),
            width=WIDTH,
            help="The same for every batch: a simplification. "
            f"{DEFAULTS.iteration_ms:g} ms make the paper's mean batch at {RATES['sharegpt']:g} "
            "requests a second and its mean answer agree.",
            persist_state="session",
        )
    )


def policies() -> tuple[str, ...]:
    """Which policies are compared, in the order in which they are always named."""
    chosen = st.pills(
        "Policies",
        POLICIES,
        format_func=NAMES.__getitem__,
        selection_mode="multi",
        default=POLICIES,
        key=key("policies"),
        help=POLICIES_HELP,
        persist_state="session",
    )
    return tuple(policy for policy in POLICIES if policy in chosen)
