"""A shared prefix: two answers to one prompt keep one copy of its KV."""

from pagedkv.evidence import compare_beginnings
from pagedkv.layout import blocks_needed
from pagedkv.lessons.base import EngineNote, Lesson, Words
from pagedkv.lessons.opening import store
from pagedkv.lessons.remedies import what_would_do
from pagedkv.model.prompts import PASSAGE_SHARED, SHARED_VARIANT, prompt
from pagedkv.recorder import Recorder
from pagedkv.settings import Settings
from pagedkv.trace.frame import Comparison

FRAMES = {
    "copied": Words(
        "A copy for each answer",
        "Two responses to a prompt of {config.prompt_length:position}, each with its own copy: R1 "
        "holds {state.requests[R1].block_table:P}, R2 {state.requests[R2].block_table:P}. "
        "{state.totals.blocks_in_use:block} {state.totals.blocks_in_use:holds|hold} the same KV "
        "twice.",
    ),
    "copy_waits": Words(
        "A copy each does not fit",
        "R1 holds {state.requests[R1].block_table:P}. R2's own copy needs "
        "{events[RequestRefused$].needed:block}, and {events[RequestRefused$].free} "
        "{events[RequestRefused$].free:is|are} free. R2 waits.",
    ),
    "none_fits": Words(
        "The prompt does not fit",
        "A prompt of {config.prompt_length:position} needs "
        "{events[RequestRefused].needed:block}; {events[RequestRefused].free} of "
        "{events[RequestRefused].total} {events[RequestRefused].free:is|are} free.",
    ),
    "one_copy": Words(
        "A new pool: the prompt is processed once",
        "Now the prompt is run once, for R1, in a pool of its own. Its "
        "{state.requests[R1].num_stored:position} "
        "{state.requests[R1].num_stored:lies|lie} in {state.requests[R1].block_table:P}.",
    ),
    "forked": Words(
        "Two tables, one copy",
        "R2 is a fork of R1, from its stored positions: its table points to the same "
        "{len(state.requests[R2].block_table):block|blocks}, {state.requests[R2].block_table:P}; "
        "{len(state.requests[R2].block_table):it|each} now has ref count "
        "{state.blocks[0].ref_count}. {state.totals.table_entries} table entries, "
        "{state.totals.blocks_in_use:block} in memory, and no KV was computed or copied.",
    ),
    "own_queries": Words(
        "Shared storage, separate queries",
        "R1 goes on with {state.requests[R1].pending_token:char}, R2 with "
        "{state.requests[R2].pending_token:char}. Each next input will bring its own query and "
        "attend over its own context. Only what both have stored is shared.",
    ),
    "beginnings": Words(
        "The same character is not the same KV",
        "Take a prompt that begins with {comparison.prompts[1][0]:char} instead. It also "
        "has {comparison.token:char} at position {comparison.position}. In layer "
        "{comparison.layers[0].layer} its K and V are the same, since only character and position "
        "have entered; from layer {comparison.layers[1].layer} on they differ, so only a context "
        "equal from its start can be shared.",
    ),
    "no_beginning": Words(
        "Equal from the very start",
        "A prompt of {config.prompt_length:position} has no beginning before its last one. With a "
        "longer prompt, this frame compares one character after two different beginnings.",
    ),
    "together": Words(
        "These two started together",
        "R1 and R2 began as one prompt, so there was nothing to search for. Finding a prefix for "
        "a request that arrives later is called prefix caching; it is not shown here.",
    ),
    "infeasible": Words(
        "Not at these settings",
        "{config.num_blocks:block} of {config.block_size:slot} "
        "{config.num_blocks:does|do} not hold a copy of the prompt for each answer.",
    ),
}


def can_show(settings: Settings) -> bool:
    """Whether a copy for each answer fits, to be compared with sharing."""
    a_copy = blocks_needed(settings.prompt_length, settings.block_size)
    return 2 * a_copy <= settings.num_blocks


def script(stage: Recorder) -> None:
    """The copied half in one pool, the shared half in another, and what sharing needs."""
    text = prompt(PASSAGE_SHARED, stage.settings.prompt_length)
    copies_fit = copy_for_each(stage, text)
    stage.open_pool()
    if store(stage, "R1", text):
        share(stage)
        compare(stage)
        stage.show("together")
    if not copies_fit:
        stage.cannot_show("infeasible", what_would_do(stage.settings, can_show))


def copy_for_each(stage: Recorder, text: str) -> bool:
    """Run the prompt for R1 and again for R2; say whether both fit."""
    answers = enumerate(("R1", "R2"))
    fitting = [name for rank, name in answers if store(stage, name, text, rank)]
    stage.show(("none_fits", "copy_waits", "copied")[len(fitting)])
    return len(fitting) == 2


def share(stage: Recorder) -> None:
    """Fork R2 from R1, and let both select different next inputs."""
    stage.show("one_copy")
    stage.engine.fork("R1", "R2")
    stage.show("forked")
    stage.engine.select("R2", rank=1)
    stage.show("own_queries")


def compare(stage: Recorder) -> None:
    """Run a prompt with another beginning in a pool of its own, and compare the last position."""
    length = stage.settings.prompt_length
    if length == 1:
        stage.show("no_beginning")
        return
    stage.show("beginnings", comparison=other_beginning(stage, length))


def other_beginning(stage: Recorder, length: int) -> Comparison:
    """K and V of the last prompt position, as R1 has them and after another beginning."""
    scratch = stage.new_engine()
    scratch.admit("other", prompt(SHARED_VARIANT, length))
    scratch.execute("other")
    return compare_beginnings(stage.engine, "R1", scratch, "other", length - 1)


LESSON = Lesson(
    slug="shared-prefix",
    order=5,
    figure=5,
    title="A shared prefix",
    question="Two answers to one prompt: must its KV be in memory twice?",
    takeaway=(
        "While both only read it, one copy serves both: two tables point to the same blocks, and "
        "the ref count says so. It takes a context that is equal from its first position."
    ),
    minutes=7,
    in_engines_today=(
        EngineNote(
            "vLLM has no fork: n answers are n requests, which find the prompt's full blocks by a "
            "hash of all tokens up to their end. With attention layers only, a part-filled last "
            "block is never shared: each request computes it for itself.",
            "vLLM 0.33.0, v1/engine/parallel_sampling.py and v1/core/kv_cache_manager.py, 2026-11",
        ),
        EngineNote(
            "Asked for n answers, SGLang first runs the prompt once and generates nothing, so that "
            "its KV is in the prefix cache; then it sends n requests, which find it there.",
            "SGLang 0.5.23, srt/managers/tokenizer_manager.py, 2026-10",
        ),
    ),
    frames=FRAMES,
    script=script,
)
