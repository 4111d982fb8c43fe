"""What the page says of a study, in Markdown, computed from its numbers.

No text of a visitor's occurs in it: a trace's name is shown elsewhere, as plain text.
"""

from pagedkv.trace.written import Phrases
from pagedkv.workloads.compare import compared
from pagedkv.workloads.kinds import StudyKind
from pagedkv.workloads.names import NAMES, setup_words
from pagedkv.workloads.simulation import WARM_UP
from pagedkv.workloads.study import Findings, Study

SELDOM = 0.01  # of all iterations; what is as seldom is not worth a line
ALIKE = 1.05  # times; what batches differ less is no difference

WORDS = Phrases(
    {
        "progress": "{what} · {done} of {total} requests in all",
        "workload": "{num_requests} requests, {input:.1f} tokens in and {output:.1f} out on "
        "average; {arrivals}. In {slots} slots{more}.",
        "more_blocks": ", in blocks of {block_size}",
        "more_answers": ", {answers} answers to each prompt",
        "more_clock": ", {ms:g} ms an iteration",
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
        "measured": "Means over the iterations from number {first} until the last request has left "
        "the queue.",
        "measured_all": "{what}: means over all iterations, for it was stopped, or nobody waited "
        "and nobody was to come any more, before number {warm_up}.",
        "idle": "{what}: in {idle} of {iterations} iterations nobody runs; the curve shows them, "
        "the means leave them out.",
        "turned_away": "{what}: {turned_away} of {num_requests} would not fit even alone, and were "
        "turned away.",
        "preempted": "{what}: {preemptions} preemptions. Each computes prompt and answer so far "
        "again, in one pass, which takes no longer here than any other iteration.",
        "sizes": "Blocks of {least} leave {least_empty:.1f} % of the held slots empty and run "
        "{least_batch:.1f} requests at a time; blocks of {most}, {most_empty:.1f} % and "
        "{most_batch:.1f}.",
        "sharing": "A prompt's full blocks are there once for all its answers: {few} answers save "
        "{least:.1f} % of the blocks, {many} answers {most:.1f} %.",
    }
)


def progress_words(study: Study, done: int, total: int) -> str:
    """What is simulated now, and how far the whole study is."""
    setup = study.current
    what = "" if setup is None else setup_words(study.about.kind, setup)
    return WORDS.say("progress", what=what, done=f"{done:,}", total=f"{total:,}")


def workload_words(findings: Findings) -> str:
    """How many requests, how long, when they come, and what all simulations have in common."""
    about, setup = findings.about, findings.outcomes[0].setup
    common = {
        "more_blocks": about.kind is not StudyKind.BLOCK_SIZES,
        "more_answers": about.kind is not StudyKind.SHARING and setup.answers > 1,
        "more_clock": not about.is_saturated,
    }
    numbers = {
        "block_size": setup.block_size,
        "answers": setup.answers,
        "ms": setup.iteration_ms,
    }
    key = "saturated" if about.is_saturated else "as_traced" if about.rate is None else "at_rate"
    return WORDS.say(
        "workload",
        num_requests=f"{about.num_requests:,}",
        input=about.mean_input,
        output=about.mean_output,
        arrivals=WORDS.say(key, rate=about.rate or 0),
        slots=f"{setup.slots:,}",
        more="".join(WORDS.say(name, **numbers) for name, is_told in common.items() if is_told),
    )


def finding_words(findings: Findings) -> str:
    """The study's result in a sentence or two."""
    first, last = findings.outcomes[0], findings.outcomes[-1]
    match findings.about.kind:
        case StudyKind.POLICIES:
            return _most_words(findings)
        case StudyKind.BLOCK_SIZES:
            return WORDS.say(
                "sizes",
                least=first.setup.block_size,
                least_empty=first.shares.empty_of_held,
                least_batch=first.mean_batch,
                most=last.setup.block_size,
                most_empty=last.shares.empty_of_held,
                most_batch=last.mean_batch,
            )
        case StudyKind.SHARING:
            few, many = first.setup.answers, last.setup.answers
            return WORDS.say("sharing", few=few, least=first.saved, many=many, most=last.saved)


def notes(findings: Findings) -> list[str]:
    """What one should know of how the figures came about: stops, means, who was turned away."""
    kind, said = findings.about.kind, []
    if findings.was_stopped:
        done = sum(not outcome.was_stopped for outcome in findings.outcomes)
        said.append(WORDS.say("stopped", done=done, total=findings.num_setups))
    if any(outcome.is_steady for outcome in findings.outcomes):
        said.append(WORDS.say("measured", first=WARM_UP))
    if unsteady := [o for o in findings.outcomes if not o.is_steady]:
        names = ", ".join(setup_words(kind, outcome.setup) for outcome in unsteady)
        said.append(WORDS.say("measured_all", what=names, warm_up=WARM_UP))
    idle = max(findings.outcomes, key=lambda outcome: outcome.idle)
    if idle.idle > SELDOM * idle.iterations:
        numbers = {"idle": f"{idle.idle:,}", "iterations": f"{idle.iterations:,}"}
        said.append(WORDS.say("idle", what=setup_words(kind, idle.setup), **numbers))
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
    worst = max(findings.outcomes, key=lambda outcome: outcome.preemptions)
    if worst.preemptions:
        what = setup_words(kind, worst.setup)
        said.append(WORDS.say("preempted", what=what, preemptions=f"{worst.preemptions:,}"))
    return said


def _most_words(findings: Findings) -> str:
    ran = [outcome for outcome in findings.outcomes if outcome.mean_batch]
    if len(ran) < 2:
        return ""
    most = max(outcome.mean_batch for outcome in ran)
    best = next(o for o in reversed(ran) if o.mean_batch * ALIKE > most)  # of equals the last
    worst = min(ran, key=lambda outcome: outcome.mean_batch)
    if most < ALIKE * worst.mean_batch:
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
