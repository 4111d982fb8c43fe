"""Reserve or allocate: the same memory handed out in one piece, and in blocks."""

from pagedkv.layout import blocks_needed
from pagedkv.lessons.base import EngineNote, Lesson, Words
from pagedkv.lessons.opening import mixed_order, prompts, run_together, store
from pagedkv.lessons.remedies import what_would_do
from pagedkv.recorder import Recorder
from pagedkv.settings import Settings

LONGEST_ANSWER = 14  # positions that B declares beyond its prompt, used or not

# Why nothing can be compared, by what became of C in one piece (None: not even B fitted, so C never
# asked) and in blocks. C refused in one piece and admitted into blocks is the lesson's point.
REASONS = {
    (None, True): "infeasible_b",
    (None, False): "infeasible_neither",
    (True, True): "infeasible_c_fits",
    (True, False): "infeasible_c_waits_paged_only",
    (False, False): "infeasible_c_waits",
}

# Which frame shows B's own check, by the answers to: does it need a block? does it get a slot?
CHECKS_OF_B = {
    (False, True): "check_b_fits",
    (True, True): "check_b_new_block",
    (True, False): "check_b_waits",
}

# Which frame sums up, by the answers to: are slots empty? was there a reservation for B?
WASTE = {
    (True, True): "waste",
    (True, False): "waste_paged_only",
    (False, True): "no_waste",
    (False, False): "no_waste_paged_only",
}

FRAMES = {
    "reserved": Words(
        "One piece, reserved for the longest answer",
        "Two requests, B and C, are to share a capacity of {contiguous.capacity_slots:position}. "
        "B's {contiguous.reservations[B].stored:token} "
        "{contiguous.reservations[B].stored:is|are} processed: "
        "{contiguous.reservations[B].stored:its|their} K and V are stored. As B's answer may bring "
        "it to {contiguous.reservations[B].reserved:position}, that many were reserved, in one "
        "piece; {contiguous.free_slots} {contiguous.free_slots:is|are} left.",
    ),
    "b_too_long": Words(
        "One piece, and it is too small",
        "B would reserve {events[RequestRefused$].needed:position} in one piece, for the longest "
        "answer it might give; the memory has {events[RequestRefused$].total}. It is refused, "
        "although its prompt has only {config.prompt_length:position}.",
    ),
    "c_waits": Words(
        "C has to wait beside empty memory",
        "C's {events[RequestRefused$].needed:input} would need as many positions in one piece, and "
        "{contiguous.free_slots} {contiguous.free_slots:is|are} left. What B reserved and has not "
        "stored cannot be given to C.",
    ),
    "c_fits": Words(
        "C fits beside the reservation",
        "C's {contiguous.reservations[C].stored:input} found room beside B's "
        "{contiguous.reservations[B].reserved} reserved positions; {contiguous.free_slots} "
        "{contiguous.free_slots:is|are} left.",
    ),
    "paged": Words(
        "The same moment, in blocks",
        "The same memory as {config.num_blocks:block} of {config.block_size:slot}. B holds "
        "{state.requests[B].block_table:P}: {state.totals.allocated_slots} allocated, "
        "{state.totals.stored_slots} stored, {state.totals.empty_slots} empty. We chose which "
        "blocks are free first, as if earlier requests had used the pool.",
    ),
    "b_waits": Words(
        "B does not fit into the blocks",
        "In blocks, B's {check.num_inputs:input} "
        "{check.num_inputs:needs|need} {check.needed:block}; {check.free} of {config.num_blocks} "
        "{check.free:is|are} free. B is not admitted.",
    ),
    "check_c": Words(
        "Check: enough blocks for C's input?",
        "C's {check.num_inputs:input} {check.num_inputs:needs|need} {check.needed:block}; "
        "{check.free} {check.free:is|are} free. How long C's answer will be is not asked: more "
        "blocks can be given when it comes to that.",
    ),
    "c_waits_paged": Words(
        "C waits here too",
        "C needs {events[RequestRefused$].needed:block}, and "
        "{events[RequestRefused$].free} of {events[RequestRefused$].total} "
        "{events[RequestRefused$].free:is|are} free. Nothing changed, and C waits.",
    ),
    "c_waits_paged_only": Words(
        "C has to wait, in blocks",
        "C needs {events[RequestRefused$].needed:block}, and "
        "{events[RequestRefused$].free} of {events[RequestRefused$].total} "
        "{events[RequestRefused$].free:is|are} free. Nothing changed, and C waits.",
    ),
    "admitted": Words(
        "Allocated is not stored",
        "C was given {state.requests[C].block_table:P}: {state.totals.allocated_slots:slot} are "
        "allocated now and {state.totals.free_slots} free. C has {state.requests[C].num_stored} "
        "stored. Its slots get KV only when its input has passed through the model.",
    ),
    "check_b_fits": Words(
        "Check: where does B's next input go?",
        "B's last block, P{state.requests[B].block_table[-1]}, has "
        "{check.empty_in_last_block:empty slot}. B's next input fits there and "
        "needs no further block.",
    ),
    "check_b_new_block": Words(
        "Check: where does B's next input go?",
        "B's last block has {check.empty_in_last_block:empty slot}. Its next input needs "
        "{check.needed:more block}, and {check.free} {check.free:is|are} free: "
        "P{state.free_blocks[0]} is next.",
    ),
    "check_b_waits": Words(
        "Check: B cannot go on yet",
        "B's last block has {check.empty_in_last_block:empty slot}. Its next input needs "
        "{check.needed:more block}, and {check.free} {check.free:is|are} free. B keeps what it has "
        "and waits.",
    ),
    "executed_both": Words(
        "One execution for both",
        "The model processed {execution.inputs[B].num_tokens} + {execution.inputs[C].num_tokens} = "
        "{execution.num_tokens:input} at once. An execution may take up to "
        "{execution.token_budget:input}; that limit has nothing to do with memory. B now has "
        "{state.requests[B].num_stored} stored, C {state.requests[C].num_stored}: "
        "{state.totals.stored_slots} in all.",
    ),
    "executed_one": Words(
        "One execution",
        "The model processed {execution.num_tokens:input}. An execution may take up to "
        "{execution.token_budget:input}; that limit has nothing to do with memory. "
        "{state.totals.stored_slots:position} are stored in all.",
    ),
    "waste": Words(
        "Less waste, not none",
        "{state.totals.empty_slots} of {state.totals.allocated_slots} allocated slots "
        "{state.totals.empty_slots:is|are} empty, all in last blocks: fewer than "
        "{config.block_size} per request, however long its answer may become. In one piece, B "
        "alone held {contiguous.reservations[B].reserved} for {contiguous.reservations[B].stored} "
        "stored.",
    ),
    "waste_paged_only": Words(
        "Less waste, not none",
        "{state.totals.empty_slots} of {state.totals.allocated_slots} allocated slots "
        "{state.totals.empty_slots:is|are} empty, all in last blocks: fewer than "
        "{config.block_size} per request, however long its answer may become.",
    ),
    "no_waste": Words(
        "No waste at this moment",
        "All {state.totals.allocated_slots} allocated slots hold KV now: every last block is full. "
        "What is empty in it is always fewer than {config.block_size:slot} per request, however "
        "long its answer may become. In one piece, B alone held "
        "{contiguous.reservations[B].reserved} for {contiguous.reservations[B].stored} stored.",
    ),
    "no_waste_paged_only": Words(
        "No waste at this moment",
        "All {state.totals.allocated_slots} allocated slots hold KV now: every last block is full. "
        "What is empty in it is always fewer than {config.block_size:slot} per request, however "
        "long its answer may become.",
    ),
    "infeasible_b": Words(
        "Not at these settings",
        "B's reservation does not fit into {config.capacity:position} in one piece, so there is "
        "nothing to compare with.",
    ),
    "infeasible_c_fits": Words(
        "Not at these settings",
        "With {config.capacity:position}, C fits beside B's reservation, so nobody waits.",
    ),
    "infeasible_neither": Words(
        "Not at these settings",
        "B's reservation does not fit into {config.capacity:position} in one piece, and "
        "{config.num_blocks:block} of {config.block_size:slot} "
        "{config.num_blocks:does|do} not hold both prompts either.",
    ),
    "infeasible_c_waits_paged_only": Words(
        "Not at these settings",
        "With {config.capacity:position}, C fits beside B's reservation, and "
        "{config.num_blocks:block} of {config.block_size:slot} "
        "{config.num_blocks:does|do} not hold both prompts, so C "
        "waits in blocks only.",
    ),
    "infeasible_c_waits": Words(
        "Not at these settings",
        "{config.num_blocks:block} of {config.block_size:slot} "
        "{config.num_blocks:does|do} not hold both prompts, so C "
        "waits in blocks as well.",
    ),
}


def can_show(settings: Settings) -> bool:
    """Whether C is refused beside B's reservation, and both prompts fit into blocks."""
    left = settings.capacity - (settings.prompt_length + LONGEST_ANSWER)
    both_prompts = 2 * blocks_needed(settings.prompt_length, settings.block_size)
    return 0 <= left < settings.prompt_length and both_prompts <= settings.num_blocks


def script(stage: Recorder) -> None:
    """The moment C arrives: refused beside a reservation, admitted into blocks."""
    stage.open_pool(mixed_order(stage.settings.num_blocks))
    prompt_b, prompt_c = prompts(stage)
    b_is_in = store(stage, "B", prompt_b)
    c_fits_in_one_piece = reserve(stage, prompt_b, prompt_c)
    if not b_is_in:
        stage.check_admission("B", len(prompt_b))
        stage.show("b_waits")
    else:
        stage.show("paged")
    waits_here_too = c_fits_in_one_piece is False
    c_is_in = allocate_for_c(
        stage, prompt_c, "c_waits_paged" if waits_here_too else "c_waits_paged_only"
    )
    if b_is_in:
        go_on(stage, c_is_in)
    if reason := REASONS.get((c_fits_in_one_piece, c_is_in)):
        stage.cannot_show(reason, what_would_do(stage.settings, can_show))


def reserve(stage: Recorder, prompt_b: str, prompt_c: str) -> bool | None:
    """The baseline: B declares its longest answer. Say if C fits beside it, None without B."""
    if not stage.baseline.reserve("B", prompt_b, len(prompt_b) + LONGEST_ANSWER):
        stage.show("b_too_long")
        return None
    stage.show("reserved")
    c_fits = stage.baseline.reserve("C", prompt_c, len(prompt_c))
    if not c_fits:
        stage.put_among_waiting("C")
    stage.show("c_fits" if c_fits else "c_waits")
    return c_fits


def allocate_for_c(stage: Recorder, prompt_c: str, key_of_refusal: str) -> bool:
    """C asks for blocks for its input, and for nothing else; say if it got them."""
    stage.check_admission("C", len(prompt_c))
    stage.show("check_c")
    if not stage.admit("C", prompt_c):
        stage.show(key_of_refusal)
        return False
    stage.show("admitted")
    return True


def go_on(stage: Recorder, c_is_in: bool) -> None:
    """B's own check, and one execution for whoever has inputs."""
    gets_slot = stage.check_append("B")
    needs_block = stage.needs_block("B")
    stage.show(CHECKS_OF_B[needs_block, gets_slot])
    b_goes_on = stage.append("B")
    names = [name for name, has_inputs in (("B", b_goes_on), ("C", c_is_in)) if has_inputs]
    if not names:
        return
    run_together(stage, names)
    b_has_reservation = stage.baseline.has_reservation("B")
    if b_goes_on and b_has_reservation:
        stage.baseline.go_on("B", stage.engine.text("B")[-1])
    stage.show("executed_both" if len(names) > 1 else "executed_one")
    some_are_empty = stage.state().totals.empty_slots > 0
    stage.show(WASTE[some_are_empty, b_has_reservation])


LESSON = Lesson(
    slug="reserve-or-allocate",
    order=1,
    figure=1,
    title="Reserve or allocate?",
    question="B may become long and has stored little. Can C join while B is still growing?",
    takeaway=(
        "Reserving for the longest answer ties up memory that may never be used. Blocks are given "
        "for what is there; at most the end of each last block stays empty."
    ),
    minutes=8,
    in_engines_today=(
        EngineNote(
            "To admit a request, vLLM asks whether its whole prompt fits into free blocks, not how "
            "long its answer may become. Tokens per step have their own limit, "
            "max_num_batched_tokens. A block has 16 slots unless settings, model or attention "
            "backend ask otherwise.",
            "vLLM 0.33.0, v1/core/kv_cache_manager.py and config/cache.py, 2026-11",
        ),
        EngineNote(
            "TensorRT-LLM counts ahead by default: under GUARANTEED_NO_EVICT a request starts only "
            "if blocks for its prompt and its longest answer can be had, though they are given as "
            "it grows. Its newer cache manager suspends requests instead.",
            "TensorRT-LLM 1.2.1, issue 16827, 2026-07; pull request 11939, 2026-03",
        ),
        EngineNote(
            "SGLang goes half way: it counts a new request's longest answer, up to a cap, and a "
            "share of what running requests may still generate, a share that it adjusts as it "
            "goes.",
            "SGLang 0.5.23, srt/managers/schedule_policy.py, 2026-10",
        ),
    ),
    frames=FRAMES,
    script=script,
)
