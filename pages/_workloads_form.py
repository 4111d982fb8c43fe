"""What is to be simulated: the workload, the memory, and what is varied."""

import streamlit as st

from pagedkv.workloads import POLICIES, RANGES, RECIPES, Setup, Workload, make_workload
from pagedkv.workloads.paper import RATES
from pagedkv.workloads.sentences import NAMES
from pagedkv.workloads.setup import HIGHEST_RATE, LEAST_RATE, max_length_for, require_measure
from pagedkv.workloads.study import KINDS, Study
from pagedkv.workloads.workload import WorkloadError
from pages._workloads_upload import choose_trace

TRACE = "trace"
SOURCES = {name: lengths.title for name, lengths in RECIPES.items()} | {TRACE: "A trace file"}
VARIED = {
    "policies": "Policies",
    "block sizes": "Block sizes",
    "sharing": "Answers that share a prompt",
}
WIDTH = 150  # pixels of a number
MOST_REQUESTS = 100_000  # here; the command line takes more
DEFAULT_REQUESTS = 4000
DEFAULTS = Setup()


def show_form() -> Study | None:
    """Let the visitor choose; return a study once it is asked for and can be."""
    kind = st.segmented_control(
        "What is compared",
        KINDS,
        format_func=VARIED.__getitem__,
        default=KINDS[0],
        required=True,
        key="workloads_kind",
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        source = st.selectbox(
            "Workload", SOURCES, format_func=SOURCES.__getitem__, key="workloads_source", width=200
        )
        num_requests = _number("requests", "Requests", DEFAULT_REQUESTS, most=MOST_REQUESTS)
        rate = None if source == TRACE else _rate(source)
        is_at_once = source == TRACE and st.checkbox("All at once", key="workloads_at_once")
        seed = 0 if source == TRACE else _number("seed", "Seed", 0)
    trace = choose_trace() if source == TRACE else None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        slots = _number("slots", "Slots of KV memory", DEFAULTS.slots)
        size = DEFAULTS.block_size
        if kind != "block sizes":
            size = _number("block_size", "Block size", DEFAULTS.block_size)
        answers = 1 if kind == "sharing" else _number("answers", "Answers", 1)
        milliseconds = _milliseconds((source == TRACE and not is_at_once) or rate is not None)
        asked = st.button("Run", icon=":material/play_arrow:")
    policies = _policies() if kind == "policies" else ()
    if not asked:
        return None
    try:
        if source == TRACE:
            if trace is None:
                raise WorkloadError("no trace is open; upload a file that can be read")
            workload = _of_trace(trace, num_requests, is_at_once)
        else:
            if rate is not None:
                require_measure("rate", rate, LEAST_RATE, HIGHEST_RATE)
            workload = make_workload(source, num_requests, seed, rate)
        if kind == "policies" and not policies:
            raise WorkloadError("no policy is chosen; choose at least one")
        setup = Setup(
            slots=slots,
            block_size=min(size, slots) if kind == "block sizes" else size,
            answers=answers,
            max_length=max_length_for(workload),
            iteration_ms=milliseconds,
        )
    except WorkloadError as error:
        st.warning("This cannot be simulated:", icon=":material/block:")
        st.text(str(error))  # may repeat what a visitor typed: no Markdown
        return None
    recipe = None if source == TRACE else source
    return Study(kind, workload, setup, policies=policies, recipe=recipe, rate=rate)


def _of_trace(trace: Workload, num_requests: int, is_at_once: bool) -> Workload:
    first = trace.first(num_requests)
    return first.all_at_once() if is_at_once else first


def _number(name: str, label: str, value: int, most: int | None = None) -> int:
    allowed = RANGES[name]
    return int(
        st.number_input(
            label, allowed[0], most or allowed[-1], value, key=f"workloads_{name}", width=WIDTH
        )
    )


def _rate(recipe: str) -> float | None:
    """Requests a second, or None for all at once."""
    arrivals = st.selectbox(
        "Arrivals",
        ("all at once", "by chance, at a rate"),
        key="workloads_arrivals",
        width=200,
        help="All at once: the queue is never empty, until it ends. Else a Poisson process.",
    )
    if arrivals == "all at once":
        return None
    return float(
        st.number_input(
            "Requests a second",
            LEAST_RATE,
            HIGHEST_RATE,
            RATES[recipe],
            key=f"workloads_rate_{recipe}",
            width=WIDTH,
        )
    )


def _milliseconds(has_a_clock: bool) -> float:
    """How long an iteration takes; asked only where requests arrive by the clock."""
    if not has_a_clock:
        return DEFAULTS.iteration_ms
    return float(
        st.number_input(
            "Iteration, ms",
            0.01,
            100_000.0,
            DEFAULTS.iteration_ms,
            key="workloads_iteration",
            width=WIDTH,
            help="The same for every batch: a simplification. 45 ms make the paper's mean batch "
            "at 2 requests a second and its mean answer agree.",
        )
    )


def _policies() -> tuple[str, ...]:
    chosen = st.pills(
        "Policies",
        POLICIES,
        format_func=NAMES.__getitem__,
        selection_mode="multi",
        default=POLICIES,
        key="workloads_policies",
        help="Max reserves the model's maximum length in one piece, Pow2 the answer rounded up to "
        "a power of two, Oracle just what will be filled. Paged takes blocks as tokens come.",
    )
    return tuple(policy for policy in POLICIES if policy in chosen)
