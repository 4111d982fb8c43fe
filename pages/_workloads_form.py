"""What is to be simulated: the workload, the memory, and what is varied."""

from dataclasses import dataclass

import streamlit as st

from pagedkv.workloads import RECIPES, Setup, Workload, make_workload
from pagedkv.workloads.kinds import StudyKind
from pagedkv.workloads.makers import DEFAULT_REQUESTS, DEFAULT_SEED
from pagedkv.workloads.ranges import require_number
from pagedkv.workloads.setup import max_length_for
from pagedkv.workloads.study import Study
from pagedkv.workloads.workload import WorkloadError
from pages._workloads_fields import (
    DEFAULTS,
    first_requests,
    is_at_once,
    key,
    milliseconds,
    policies,
    requests_a_second,
    whole,
)
from pages._workloads_upload import choose_trace

TRACE = "trace"
SOURCES = {name: lengths.title for name, lengths in RECIPES.items()} | {TRACE: "A trace file"}
VARIED = {
    StudyKind.POLICIES: "Policies",
    StudyKind.BLOCK_SIZES: "Block sizes",
    StudyKind.SHARING: "Answers that share a prompt",
}
MOST_MADE = 100_000  # requests, here; the command line makes more


@dataclass(frozen=True, slots=True)
class Asked:
    """Which requests, and when they come: made by a recipe, or those of ``trace``, if one is open.

    ``num_requests`` is None for all of a trace.
    """

    source: str
    num_requests: int | None
    rate: float | None = None
    seed: int = DEFAULT_SEED
    trace: Workload | None = None
    is_at_once: bool = False

    @property
    def recipe(self) -> str | None:
        """The recipe by which the requests are made; None for a trace."""
        return None if self.source == TRACE else self.source

    @property
    def has_a_clock(self) -> bool:
        """Whether requests arrive by the clock."""
        return self.rate is not None or (self.source == TRACE and not self.is_at_once)


def show_form() -> Study | None:
    """Let the visitor choose; return a study once it is asked for and can be."""
    kind = _choose_kind()
    compared = policies() if kind is StudyKind.POLICIES else ()
    asked = _choose_requests()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        slots = whole("slots", "Slots of KV memory", DEFAULTS.slots)
        size = DEFAULTS.block_size
        if kind is not StudyKind.BLOCK_SIZES:
            size = whole("block_size", "Block size", DEFAULTS.block_size)
        answers = DEFAULTS.answers
        if kind is not StudyKind.SHARING:
            answers = whole("answers", "Answers", DEFAULTS.answers)
        iteration_ms = milliseconds() if asked.has_a_clock else DEFAULTS.iteration_ms
        is_asked_for = st.button("Run", icon=":material/play_arrow:")
    if not is_asked_for:
        return None
    try:
        workload = _workload(asked)
        if kind is StudyKind.POLICIES and not compared:
            raise WorkloadError("no policy is chosen; choose at least one")
        setup = Setup(
            slots=slots,
            block_size=min(size, slots) if kind is StudyKind.BLOCK_SIZES else size,
            answers=answers,
            max_length=max_length_for(workload),
            iteration_ms=iteration_ms,
        )
    except WorkloadError as error:
        st.warning("This cannot be simulated:", icon=":material/block:")
        st.text(str(error))  # may repeat what a visitor typed: no Markdown
        return None
    return Study(kind, workload, setup, policies=compared, recipe=asked.recipe, rate=asked.rate)


def _choose_kind() -> StudyKind:
    kinds = [kind.value for kind in StudyKind]  # a widget keeps plain words
    chosen = st.segmented_control(
        "What is compared",
        kinds,
        format_func=lambda kind: VARIED[StudyKind(kind)],
        default=kinds[0],
        required=True,
        key=key("kind"),
        persist_state="session",
    )
    return StudyKind(chosen)


def _choose_requests() -> Asked:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        source = st.selectbox(
            "Workload",
            SOURCES,
            format_func=SOURCES.__getitem__,
            key=key("source"),
            width=200,
            persist_state="session",
        )
        if source != TRACE:
            count = whole("requests", "Requests", DEFAULT_REQUESTS, most=MOST_MADE)
            rate = requests_a_second(source)
            return Asked(source, count, rate, seed=whole("seed", "Seed", DEFAULT_SEED))
        count, at_once = first_requests(), is_at_once()
    return Asked(source, count, trace=choose_trace(), is_at_once=at_once)


def _workload(asked: Asked) -> Workload:
    """The requests that are asked for; raises ``WorkloadError`` where there are none."""
    if asked.recipe is not None:
        assert asked.num_requests is not None
        return make_workload(asked.recipe, asked.num_requests, asked.seed, asked.rate)
    if asked.trace is None:
        raise WorkloadError("no trace is open; upload a file that can be read")
    if asked.num_requests is not None:
        require_number("requests", asked.num_requests)
    first = asked.trace.first(asked.num_requests or len(asked.trace))
    return first.all_at_once() if asked.is_at_once else first
