"""What the page says of a study, in Markdown, computed from its numbers.

No text of a visitor's occurs in it: a trace's name is shown elsewhere, as plain text.
"""

from pagedkv.trace.written import Phrases
from pagedkv.workloads.comparing_policies import most_words
from pagedkv.workloads.kinds import StudyKind
from pagedkv.workloads.names import NAMES, setup_words
from pagedkv.workloads.outcome import Outcome
from pagedkv.workloads.stretches import stretch_notes, stretch_of
from pagedkv.workloads.study import Findings, Study

SELDOM = 0.01  # of all iterations; what is as seldom is not worth a line

WORDS = Phrases(
    {
        "progress": "{what} · {done} of {total} requests in all",
        "workload": "{num_requests} requests, {input:,.1f} tokens in and {output:,.1f} out on "
        "average; {arrivals}. In {slots} slots{more}.",
        "more_blocks": ", in blocks of {block_size:,}",
        "more_max": ", a maximum length of {max_length:,}",
        "more_answers": ", {answers} answers to each prompt",
        "more_clock": ", {ms:,g} ms an iteration",
        "saturated": "all of them wait from the beginning",
        "at_rate": "{rate:,g} come in a second",
        "as_traced": "they arrive as the trace says",
        "stopped": "**Stopped.** {done} of {total} simulations came to their end; figures of the "
        "last one are means over what it came to.",
        "different": "**Not all ran the same requests, so they are not compared**: of {of}, "
        "{turned_away} were turned away.",
        "nobody": "Nobody ran: none of the requests would fit.",
        "stretches": "Not all of these means are over the same stretch; the notes say which.",
        "idle": "{what}: in {idle} of {iterations} iterations nobody runs; the curve shows them, "
        "the means leave them out.",
        "turned_away": "{what}: {turned_away} of {num_requests} would not fit even alone, and were "
        "turned away.",
        "preempted": "{what}: {preemptions} preemptions. Each computes prompt and answer so far "
        "again, in one pass, which takes no longer here than any other iteration.",
        "sizes": "Blocks of {least} leave {least_empty:.1f} % of the held slots empty and run "
        "{least_batch:,.1f} requests at a time; blocks of {most}, {most_empty:.1f} % and "
        "{most_batch:,.1f}.",
        "sharing": "A prompt's full blocks are there once for all its answers: {few} answers save "
        "{least:.1f} % of the blocks, {many} answers {most:.1f} %.",
    }
)
TURNED_AWAY = Phrases(
    {
        StudyKind.POLICIES: "{turned_away} with {policy}",
        StudyKind.BLOCK_SIZES: "{turned_away} with blocks of {block_size}",
        StudyKind.SHARING: "{turned_away} with {answers} answers",
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
        "more_max": any(outcome.setup.policy == "max" for outcome in findings.outcomes),
        "more_answers": about.kind is not StudyKind.SHARING and setup.answers > 1,
        "more_clock": not about.is_saturated,
    }
    numbers = {
        "block_size": setup.block_size,
        "max_length": setup.max_length,
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
    """The study's result in a sentence or two, of what came to its end; empty if that is too few.

    What ran other requests, because more of them were turned away, is not compared.
    """
    kind = findings.about.kind
    ended = tuple(outcome for outcome in findings.outcomes if not outcome.was_stopped)
    if len(ended) < 2:
        return ""
    if len({outcome.turned_away for outcome in ended}) > 1:
        return _different_words(kind, ended)
    if not ended[0].finished:
        return WORDS.say("nobody")
    words = _compared_words(findings, ended)
    if len({stretch_of(outcome) for outcome in ended}) > 1:
        words = f"{words} {WORDS.say('stretches')}"
    return words


def notes(findings: Findings) -> list[str]:
    """What one should know of how the figures came about: stops, means, who was turned away."""
    kind, said = findings.about.kind, []
    if findings.was_stopped:
        done = sum(not outcome.was_stopped for outcome in findings.outcomes)
        said.append(WORDS.say("stopped", done=done, total=findings.num_setups))
    said += stretch_notes(findings)
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


def _compared_words(findings: Findings, ended: tuple[Outcome, ...]) -> str:
    """What came of those that ran the same requests."""
    first, last = ended[0], ended[-1]
    match findings.about.kind:
        case StudyKind.POLICIES:
            return most_words(findings, ended)
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


def _different_words(kind: StudyKind, ended: tuple[Outcome, ...]) -> str:
    """How many requests each of them turned away."""
    *most, last = [
        TURNED_AWAY.say(
            kind,
            turned_away=_how_many(outcome.turned_away, outcome.num_requests),
            policy=NAMES[outcome.setup.policy],
            block_size=outcome.setup.block_size,
            answers=outcome.setup.answers,
        )
        for outcome in ended
    ]
    said = f"{', '.join(most)} and {last}"
    return WORDS.say("different", of=f"{ended[0].num_requests:,}", turned_away=said)


def _how_many(count: int, total: int) -> str:
    return {0: "none", total: "all"}.get(count, f"{count:,}")
