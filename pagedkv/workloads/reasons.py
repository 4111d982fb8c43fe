"""Where we differ from the paper, and why, as far as we know: in Markdown, from the differences."""

from collections.abc import Mapping
from itertools import groupby

from pagedkv.trace.written import Phrases
from pagedkv.workloads.compare import (
    ENOUGH,
    Compared,
    compared,
    not_beside_the_paper,
    printed_saving,
)
from pagedkv.workloads.makers import RECIPES
from pagedkv.workloads.names import NAMES, setup_words
from pagedkv.workloads.paper import BLOCK_SIZE, RATES, SLOTS
from pagedkv.workloads.setup import ITERATION_MS
from pagedkv.workloads.simulation import WARM_UP
from pagedkv.workloads.study import Findings

CLOSE_POINTS = 1.0  # of a share; what differs less needs no cause of its own
CLOSE_BATCH = 6.0  # per cent
FULL = 3.0  # per cent; a pool with less outside its blocks is full

WORDS = Phrases(
    {
        "shares": "no share is further than {points:.1f} points from the paper's",
        "apart": "{part} differs most of the shares, by {points:+.1f} points",
        "batch": "the batch of {ours:.2f} is {percent:+.1f} % beside {paper:.2f}",
        "pow2": "How Pow2 treats the prompt is not printed; ours reserves the prompt as it is and "
        "the answer rounded up, and counts what the buddy allocator adds as external.",
        "saturated": "Here the queue is never empty; the paper's requests came at {rate:g} a "
        "second, which does not always fill the memory.",
        "not_full": "At {rate:g} requests a second the queue is empty at times: on average "
        "{external:.1f} % of the memory is outside all blocks in use. How many run at such a rate "
        "follows from how long an iteration takes, which grows with the batch on a GPU and is "
        "always {ms:g} ms here.",
        "no_evidence": "This agreement is no evidence: {ms:g} ms an iteration were chosen so that "
        "the paper's own numbers agree.",
        "lengths": "We know no cause but the lengths that were drawn.",
        "drawn": "Lengths are drawn here, {input:.1f} tokens in and {output:.1f} out on average; "
        "the paper's conversations have {paper_input:.2f} and {paper_output:.2f}. How far they "
        "spread is not printed, but chosen to fit what is, and another seed gives somewhat other "
        "figures.",
        "saving": "{what} save {ours:.1f} % of the blocks, {points:+.1f} points beside the "
        "paper's {paper:.2f} %.",
        "alpaca_saving": "One spread of lengths fits either Alpaca's batches or its savings: with "
        "a wider one, savings come nearer and Oracle's batch falls short.",
        "sharegpt_saving": "For ShareGPT the paper's text gives a range only; its ends are set "
        "beside the fewest and the most answers. Here all answers to a prompt are equally long, "
        "which sampled ones are not.",
        "beam": "Beam search is not simulated. Its answers share what they generated as well, "
        "which is why the paper saves {beam:.1f} % there, with {answers} answers, and "
        "{parallel:.1f} % by sampling.",
        "other": "The paper prints nothing for this memory and workload, so its figures are not "
        "set beside ours. It has OPT-13B's {slots:,} slots, blocks of {block_size}, one answer to "
        "a prompt but where answers are compared, and {rates}; a queue that is never empty will "
        "do.",
        "clock": "The paper's figures are not set beside ours: at {rate:g} requests a second, how "
        "many run follows from how long an iteration takes. Its own numbers make that {ms:g} ms.",
        "few": "{what}: not set beside the paper. {finished} requests ended; it takes {enough:,}, "
        "and {iterations} iterations that are measured once the pool has filled, for chance to "
        "decide little.",
        "sizes": "Memory alone would make blocks as small as can be. The paper measured speed too "
        "(figure 18b, read in two independent copies): ShareGPT did best with blocks of 16 to 128, "
        "Alpaca with 16 and 32.",
    }
)


def reasons(findings: Findings) -> list[str]:
    """A line for each policy or number of answers that is compared, and why others are not."""
    if findings.about.kind == "block sizes":
        return [WORDS.say("sizes")]
    said, pairs = [], compared(findings)
    if findings.about.kind == "sharing":
        said += _savings(findings, pairs)
    else:
        for policy, of_policy in groupby(pairs, key=lambda pair: pair.outcome.setup.policy):
            said.append(_policy(findings, policy, {pair.what: pair for pair in of_policy}))
    if pairs:
        said.append(_drawn(findings))
    return [*said, *_not_compared(findings)]


def _policy(findings: Findings, policy: str, pairs: Mapping[str, Compared]) -> str:
    """How far a policy is from the paper, and the cause of what is not close."""
    batch, said = pairs["batch"], []
    shares = [pair for what, pair in pairs.items() if what != "batch"]
    far = [pair for pair in shares if abs(pair.difference) > CLOSE_POINTS]
    if shares:
        worst = max(shares, key=lambda pair: abs(pair.difference))
        points = worst.difference if far else abs(worst.difference)
        said.append(WORDS.say("apart" if far else "shares", part=worst.what, points=points))
    numbers = {"ours": batch.ours, "percent": batch.per_cent, "paper": batch.paper.value}
    said.append(WORDS.say("batch", **numbers))
    parts = {pair.what: pair.difference for pair in far}
    return " ".join(
        [f"{NAMES[policy]}: {', and '.join(said)}.", *_causes(findings, policy, batch, parts)]
    )


def _causes(
    findings: Findings, policy: str, batch: Compared, far: Mapping[str, float]
) -> list[str]:
    """Why the batch, or the shares that are ``far`` by so many points, are not the paper's."""
    about, outcome = findings.about, batch.outcome
    numbers = {"rate": RATES[about.recipe or ""], "ms": outcome.setup.iteration_ms}
    is_batch_close = abs(batch.per_cent) <= CLOSE_BATCH
    said = []
    if policy == "paged" and not about.is_saturated:
        if outcome.shares.external > FULL:
            said.append(WORDS.say("not_full", external=outcome.shares.external, **numbers))
        if is_batch_close:
            said.append(WORDS.say("no_evidence", **numbers))
    elif policy == "paged" and batch.per_cent > CLOSE_BATCH:
        said.append(WORDS.say("saturated", **numbers))
    elif far.get("internal", 0) > 0 or far.get("external", 0) < 0:
        said += [WORDS.say("pow2")] if policy == "pow2" else []
    return said or ([] if is_batch_close and not far else [WORDS.say("lengths")])


def _drawn(findings: Findings) -> str:
    about = findings.about
    recipe = RECIPES[about.recipe or ""]
    return WORDS.say(
        "drawn",
        input=about.mean_input,
        output=about.mean_output,
        paper_input=recipe.mean_input,
        paper_output=recipe.mean_output,
    )


def _not_compared(findings: Findings) -> list[str]:
    """Why the paper is not set beside some or all of the outcomes; one line for each cause."""
    about = findings.about
    causes = [(not_beside_the_paper(about, outcome), outcome) for outcome in findings.outcomes]
    said = []
    for cause in dict.fromkeys(cause for cause, _ in causes if cause is not None):
        of_it = [outcome for other, outcome in causes if other == cause]
        ended = sorted({f"{outcome.finished:,}" for outcome in of_it}, key=len)
        said.append(
            WORDS.say(
                cause,
                slots=SLOTS,
                block_size=BLOCK_SIZE,
                rates=" or ".join(
                    f"{rate:g} {RECIPES[name].title} requests a second"
                    for name, rate in RATES.items()
                ),
                rate=RATES.get(about.recipe or "", 0),
                ms=ITERATION_MS,
                what=", ".join(setup_words(about.kind, outcome.setup) for outcome in of_it),
                finished=" and ".join(ended),
                enough=ENOUGH,
                iterations=WARM_UP,
            )
        )
    return said


def _savings(findings: Findings, pairs: tuple[Compared, ...]) -> list[str]:
    about = findings.about
    said = [
        WORDS.say(
            "saving",
            what=setup_words(about.kind, pair.outcome.setup),
            ours=pair.ours,
            points=pair.difference,
            paper=pair.paper.value,
        )
        for pair in pairs
    ]
    if about.recipe == "alpaca" and any(pair.difference > CLOSE_POINTS for pair in pairs):
        said.append(WORDS.say("alpaca_saving"))
    if about.recipe == "sharegpt" and pairs:
        said.append(WORDS.say("sharegpt_saving"))
    if pairs:
        last = pairs[-1]
        beam = printed_saving(about, last.outcome, "beam")
        if beam is not None:
            said.append(
                WORDS.say(
                    "beam",
                    beam=beam.value,
                    answers=last.outcome.setup.answers,
                    parallel=last.paper.value,
                )
            )
    return said
