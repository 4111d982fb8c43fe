"""What the page says of a study, in Markdown, computed from its numbers.

No text of a visitor's occurs in it: a trace's name is shown elsewhere, as plain text.
"""

from itertools import groupby

from pagedkv.trace.written import Phrases
from pagedkv.workloads.compare import Compared, compared, printed_saving
from pagedkv.workloads.outcome import Outcome
from pagedkv.workloads.paper import RATES
from pagedkv.workloads.setup import Setup
from pagedkv.workloads.study import Findings, Study

NAMES = {"max": "Max", "pow2": "Pow2", "oracle": "Oracle", "paged": "Paged"}
CLOSE_POINTS = 1.0  # of a share; below it nothing has to be explained
CLOSE_BATCH = 6.0  # per cent
FULL = 3.0  # per cent; a pool with less outside its blocks is full
ALIKE = 1.05  # times; what batches differ less is no difference

WORDS = Phrases(
    {
        "progress": "{what} · {done} of {total} requests in all",
        "doing_policy": "{policy}",
        "doing_size": "Blocks of {block_size}",
        "doing_answers": "{answers} answers to a prompt",
        "workload": "{num_requests} requests, {input:.1f} tokens in and {output:.1f} out on "
        "average; {arrivals}.",
        "saturated": "all of them wait from the beginning",
        "at_rate": "{rate:g} come in a second",
        "as_traced": "they arrive as the trace says",
        "stopped": "**Stopped.** {done} of {total} simulations came to their end; figures of the "
        "last one are means over what it came to.",
        "most": "**{best} runs {batch:.1f} requests at a time, {factor:.1f} times as many as "
        "{worst} ({least:.1f})**, in the same memory.",
        "all_alike": "All run about {batch:.1f} requests at a time: here it is not memory that "
        "limits them.",
        "paper_factor": "In the paper it is {factor:.1f} times.",
        "measured": "Means over the iterations from number {first} until the queue is empty.",
        "measured_all": "{policies}: the queue was empty before iteration {warm_up}, or the run "
        "was stopped; means over all iterations.",
        "turned_away": "{what}: {turned_away} of {num_requests} would not fit even alone, and were "
        "turned away.",
        "preempted": "{what}: {preemptions} preemptions. Each computes prompt and answer so far "
        "again, in one pass, which takes no longer here than any other iteration.",
        "close": "{policy}: every share within {points:.1f} points of the paper's.",
        "apart": "{policy}: {part} differs most, by {points:+.1f} points.",
        "why_pow2": "How Pow2 treats the prompt is not printed; ours reserves the prompt as it is "
        "and the answer rounded up. So {internal:+.1f} points lie inside reservations, never "
        "filled, and {external:+.1f} outside them.",
        "why_lengths": "Our lengths are drawn from a distribution with the paper's means, not from "
        "its conversations: one seed moves a share by about a point.",
        "why_saturated": "Paged: the batch is {percent:+.0f} % beside the paper's {paper:.2f}. "
        "Here the queue is never empty; the paper's requests came at {rate:g} a second, which "
        "does not always fill the memory.",
        "why_rate": "Paged: at {rate:g} requests a second the batch is {ours:.1f} and the paper's "
        "{paper:.2f}. It follows from how long a request stays, and the default of 45 ms an "
        "iteration was chosen so that the paper's own numbers agree: no evidence, then.",
        "why_not_full": "The queue is empty at times: {external:.1f} % of the memory is outside "
        "all blocks in use, on average.",
        "why_alpaca": "Paged: the batch is {percent:+.0f} % beside the paper's {paper:.2f}. At "
        "{rate:g} requests a second it is set by how long an iteration takes, which grows with the "
        "batch on a GPU and does not here.",
        "why_batch": "{policy}: the batch is {percent:+.0f} % beside the paper's {paper:.2f}.",
        "why_saving": "{answers} answers save {ours:.1f} %, {points:+.1f} points beside the "
        "paper's {paper:.2f} %.",
        "why_alpaca_saving": "One spread of lengths fits either Alpaca's batches or its savings: "
        "with a wider one, savings come nearer and Oracle's batch falls short.",
        "why_sharegpt_saving": "For ShareGPT the paper's text gives a range only; its ends are "
        "set beside the fewest and the most answers. Here all answers to a prompt are equally "
        "long.",
        "beam": "Beam search is not simulated. Its answers share what they generated as well, "
        "which is why the paper saves {beam:.1f} % there, with {answers} answers, and "
        "{parallel:.1f} % by sampling.",
        "not_of_the_paper": "The paper prints nothing for this memory and workload, so its "
        "figures are not set beside ours. It has OPT-13B's 15,728 slots, blocks of 16, one answer, "
        "and 2 requests a second of ShareGPT or 30 of Alpaca; a queue that is never empty will do.",
        "sizes": "Blocks of {least} leave {least_empty:.1f} % of the held slots empty and run "
        "{least_batch:.1f} requests at a time; blocks of {most}, {most_empty:.1f} % and "
        "{most_batch:.1f}.",
        "sizes_paper": "Memory alone would make blocks as small as can be. The paper measured "
        "speed too (figure 18b, read in two independent copies): ShareGPT did best with blocks of "
        "16 to 128, Alpaca with 16 and 32.",
        "sharing": "A prompt's full blocks are there once for all its answers: {few} answers save "
        "{least:.1f} % of the blocks, {many} answers {most:.1f} %.",
    }
)


def progress_words(study: Study, done: int, total: int) -> str:
    """What is simulated now, and how far the whole study is."""
    setup = study.current
    what = "" if setup is None else setup_words(study.about.kind, setup)
    return WORDS.say("progress", what=what, done=f"{done:,}", total=f"{total:,}")


def setup_words(kind: str, setup: Setup) -> str:
    """What tells one simulation of a study from the others."""
    if kind == "policies":
        return WORDS.say("doing_policy", policy=NAMES[setup.policy])
    if kind == "block sizes":
        return WORDS.say("doing_size", block_size=setup.block_size)
    return WORDS.say("doing_answers", answers=setup.answers)


def workload_words(findings: Findings) -> str:
    """How many requests, how long, and when they come."""
    about = findings.about
    key = "saturated" if about.is_saturated else "as_traced" if about.rate is None else "at_rate"
    return WORDS.say(
        "workload",
        num_requests=f"{about.num_requests:,}",
        input=about.mean_input,
        output=about.mean_output,
        arrivals=WORDS.say(key, rate=about.rate or 0),
    )


def finding_words(findings: Findings) -> str:
    """The study's result in a sentence or two."""
    outcomes = findings.outcomes
    first, last = outcomes[0], outcomes[-1]
    if findings.about.kind == "policies":
        return _most_words(findings)
    if findings.about.kind == "block sizes":
        return WORDS.say(
            "sizes",
            least=first.setup.block_size,
            least_empty=empty_per_cent(first),
            least_batch=first.mean_batch,
            most=last.setup.block_size,
            most_empty=empty_per_cent(last),
            most_batch=last.mean_batch,
        )
    few, many = first.setup.answers, last.setup.answers
    return WORDS.say("sharing", few=few, least=first.saved, many=many, most=last.saved)


def empty_per_cent(outcome: Outcome) -> float:
    """Per cent of the slots held by requests that hold nothing."""
    shares = outcome.shares
    held = shares.token + shares.reserved + shares.internal
    return 100 * (1 - shares.token / held) if held else 0.0


def notes(findings: Findings) -> list[str]:
    """What one should know of how the figures came about: stops, means, who was turned away."""
    kind, said = findings.about.kind, []
    if findings.was_stopped:
        done = sum(not outcome.was_stopped for outcome in findings.outcomes)
        said.append(WORDS.say("stopped", done=done, total=findings.num_setups))
    steady = [outcome for outcome in findings.outcomes if outcome.is_steady]
    if steady:
        said.append(WORDS.say("measured", first=steady[0].measured_from))
    if unsteady := [o for o in findings.outcomes if not o.is_steady]:
        names = ", ".join(setup_words(kind, outcome.setup) for outcome in unsteady)
        said.append(WORDS.say("measured_all", policies=names, warm_up=500))
    for outcome in findings.outcomes:
        what = setup_words(kind, outcome.setup)
        if outcome.turned_away:
            said.append(
                WORDS.say(
                    "turned_away",
                    what=what,
                    turned_away=f"{outcome.turned_away:,}",
                    num_requests=f"{outcome.num_requests:,}",
                )
            )
    if most := max(findings.outcomes, key=lambda outcome: outcome.preemptions).preemptions:
        outcome = next(o for o in findings.outcomes if o.preemptions == most)
        what = setup_words(kind, outcome.setup)
        said.append(WORDS.say("preempted", what=what, preemptions=f"{most:,}"))
    return said


def reasons(findings: Findings) -> list[str]:
    """Where we differ from the paper, and why, as far as we know; computed from the differences."""
    about, pairs = findings.about, compared(findings)
    if about.kind == "block sizes":
        return [WORDS.say("sizes_paper")]
    if not pairs:
        return [WORDS.say("not_of_the_paper")]
    if about.kind == "sharing":
        return _saving_reasons(findings, pairs)
    said = []
    for policy, of_policy in groupby(pairs, key=lambda pair: pair.outcome.setup.policy):
        by_part = {pair.what: pair for pair in of_policy}
        said += _share_reasons(policy, by_part)
        said += _batch_reasons(findings, policy, by_part["batch"])
    if about.recipe == "sharegpt":
        said.append(WORDS.say("why_lengths"))
    return said


def _most_words(findings: Findings) -> str:
    ran = [outcome for outcome in findings.outcomes if outcome.mean_batch]
    if len(ran) < 2:
        return ""
    best = max(reversed(ran), key=lambda outcome: outcome.mean_batch)  # of equals the last
    worst = min(ran, key=lambda outcome: outcome.mean_batch)
    if best.mean_batch < ALIKE * worst.mean_batch:
        return WORDS.say("all_alike", batch=best.mean_batch)
    words = WORDS.say(
        "most",
        best=NAMES[best.setup.policy],
        batch=best.mean_batch,
        factor=best.mean_batch / worst.mean_batch,
        worst=NAMES[worst.setup.policy],
        least=worst.mean_batch,
    )
    batches = {p.outcome: p.paper.value for p in compared(findings) if p.what == "batch"}
    if best in batches and worst in batches:
        factor = batches[best] / batches[worst]
        words = f"{words} {WORDS.say('paper_factor', factor=factor)}"
    return words


def _share_reasons(policy: str, by_part: dict[str, Compared]) -> list[str]:
    parts = [pair for what, pair in by_part.items() if what != "batch"]
    if not parts:
        return []
    worst = max(parts, key=lambda pair: abs(pair.difference))
    if abs(worst.difference) <= CLOSE_POINTS:
        return [WORDS.say("close", policy=NAMES[policy], points=abs(worst.difference))]
    said = WORDS.say("apart", policy=NAMES[policy], part=worst.what, points=worst.difference)
    if policy == "pow2" and by_part["internal"].difference > 0 > by_part["external"].difference:
        internal, external = by_part["internal"].difference, by_part["external"].difference
        said = f"{said} {WORDS.say('why_pow2', internal=internal, external=external)}"
    return [said]


def _batch_reasons(findings: Findings, policy: str, pair: Compared) -> list[str]:
    about = findings.about
    rate = RATES[about.recipe or ""]
    values = {
        "policy": NAMES[policy],
        "percent": pair.per_cent,
        "paper": pair.paper.value,
        "ours": pair.ours,
        "rate": rate,
        "ms": pair.outcome.setup.iteration_ms,
    }
    if policy == "paged" and about.is_saturated and pair.difference > 0:
        return [WORDS.say("why_saturated", **values)]
    if policy == "paged" and not about.is_saturated:
        said = [WORDS.say("why_alpaca" if about.recipe == "alpaca" else "why_rate", **values)]
        external = pair.outcome.shares.external
        if external > FULL:
            said.append(WORDS.say("why_not_full", external=external))
        return said
    if abs(pair.per_cent) > CLOSE_BATCH:
        return [WORDS.say("why_batch", **values)]
    return []


def _saving_reasons(findings: Findings, pairs: tuple[Compared, ...]) -> list[str]:
    said = [
        WORDS.say(
            "why_saving",
            answers=pair.outcome.setup.answers,
            ours=pair.ours,
            points=pair.difference,
            paper=pair.paper.value,
        )
        for pair in pairs
    ]
    last = pairs[-1]
    beam = printed_saving(findings.about, last.outcome, "beam")
    if findings.about.recipe == "alpaca" and any(p.difference > 0 for p in pairs):
        said.append(WORDS.say("why_alpaca_saving"))
    if findings.about.recipe == "sharegpt":
        said.append(WORDS.say("why_sharegpt_saving"))
    if beam is not None:
        answers = last.outcome.setup.answers
        parallel = last.paper.value
        said.append(WORDS.say("beam", beam=beam.value, answers=answers, parallel=parallel))
    return said
