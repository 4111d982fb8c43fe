"""Where we differ from the paper, and why, as far as we know: in Markdown, from the differences."""

from collections.abc import Mapping
from itertools import groupby

from pagedkv.trace.written import Phrases
from pagedkv.workloads.compare import (
    ENOUGH,
    Compared,
    NotBeside,
    compared,
    not_beside_the_paper,
    printed_saving,
)
from pagedkv.workloads.kinds import StudyKind
from pagedkv.workloads.makers import MODEL_MAX_LENGTH, RECIPES
from pagedkv.workloads.names import NAMES, setup_words
from pagedkv.workloads.paper import BLOCK_SIZE, RATES, SLOTS
from pagedkv.workloads.setup import ITERATION_MS
from pagedkv.workloads.simulation import WARM_UP
from pagedkv.workloads.study import Findings, StudyDescription

CLOSE_POINTS = 1.0  # of a share; what differs less needs no cause of its own
CLOSE_BATCH = 6.0  # per cent
FULL = 3.0  # per cent; a pool with less outside its blocks is full

WORDS = Phrases(
    {
        "shares": "no share is further than {points:.1f} points from the paper's",
        "apart": "{part} differs most of the shares, by {points:+.1f} points",
        "batch": "the batch of {ours:,.2f} is {percent:+.1f} % beside {paper:.2f}",
        "pow2": "How Pow2 treats the prompt is not printed; ours reserves the prompt as it is and "
        "the answer rounded up, and counts what the buddy allocator adds as external.",
        "saturated": "Here the queue is never empty; the paper's requests came at {rate:,g} a "
        "second, which does not always fill the memory.",
        "not_full": "At {rate:,g} requests a second the queue is empty at times: on average "
        "{external:.1f} % of the memory is outside all blocks in use. How many run at such a rate "
        "follows from how long an iteration takes, which grows with the batch on a GPU and is "
        "always {ms:,g} ms here.",
        "no_evidence": "This agreement is no evidence: {ms:,g} ms an iteration were chosen so that "
        "the paper's own numbers agree.",
        "lengths": "We know no cause but the lengths that were drawn.",
        "drawn": "Lengths are drawn here, {input:,.1f} tokens in and {output:,.1f} out on average; "
        "in the paper they have {paper_input:.2f} and {paper_output:.2f}. How far they "
        "spread is not printed, but chosen to fit what is, and another seed gives somewhat other "
        "figures.",
        "saving": "{what} save {ours:.1f} % of the blocks, {points:+.1f} points beside the "
        "paper's {paper:.1f} %.",
        "alpaca_saving": "One spread of lengths fits either Alpaca's batches or its savings: with "
        "a wider one, savings come nearer and Oracle's batch falls short.",
        "sharegpt_saving": "For ShareGPT the paper's text gives a range only; its ends are set "
        "beside the fewest and the most answers. Here all answers to a prompt are equally long, "
        "which sampled ones are not.",
        "beam": "Beam search is not simulated. Its answers share what they generated as well, "
        "which is why the paper saves {beam:.1f} % there, with {answers} answers, and "
        "{parallel:.1f} % by sampling.",
        NotBeside.OTHER: "The paper prints nothing for this memory and workload, so its figures "
        "are not set beside ours. It has OPT-13B's {slots:,} slots and maximum length of "
        "{max_length:,}, blocks of {block_size}, one answer to a prompt but where answers are "
        "compared, and {rates}; a queue that is never empty will do.",
        NotBeside.CLOCK: "The paper's figures are not set beside ours: at {rate:,g} requests a "
        "second, how many run follows from how long an iteration takes. Its own numbers make that "
        "{ms:,g} ms.",
        NotBeside.FEW: "{what}: not set beside the paper. {finished} requests ended; it takes "
        "{enough:,}, and {iterations} iterations that are measured once the pool has filled, for "
        "chance to decide little.",
        "sizes": "Memory alone would make blocks as small as can be. The paper measured speed too "
        "(figure 18b, read in two copies of the text): ShareGPT did best with blocks of 16 to 128, "
        "Alpaca with 16 and 32.",
    }
)


def reasons(findings: Findings) -> list[str]:
    """A line for each policy or number of answers that is compared, and why others are not."""
    about, pairs = findings.about, compared(findings)
    if about.kind is StudyKind.BLOCK_SIZES:
        return [WORDS.say("sizes")]
    said: list[str] = []
    if about.recipe is not None and pairs:  # nothing of a trace is compared
        say = _savings if about.kind is StudyKind.SHARING else _policies
        said = [*say(about, about.recipe, pairs), _drawn(about, about.recipe)]
    return [*said, *_not_compared(findings)]


def _policies(about: StudyDescription, recipe: str, pairs: tuple[Compared, ...]) -> list[str]:
    """A line for each policy."""
    return [
        _policy(about, recipe, policy, {pair.what: pair for pair in of_policy})
        for policy, of_policy in groupby(pairs, key=lambda pair: pair.outcome.setup.policy)
    ]


def _policy(
    about: StudyDescription, recipe: str, policy: str, pairs: Mapping[str, Compared]
) -> str:
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
        [f"{NAMES[policy]}: {', and '.join(said)}.", *_causes(about, recipe, batch, parts)]
    )


def _causes(
    about: StudyDescription, recipe: str, batch: Compared, far: Mapping[str, float]
) -> list[str]:
    """Why the batch, or the shares that are ``far`` by so many points, are not the paper's."""
    outcome = batch.outcome
    policy = outcome.setup.policy
    numbers = {"rate": RATES[recipe], "ms": outcome.setup.iteration_ms}
    is_batch_close = abs(batch.per_cent) <= CLOSE_BATCH
    said = []
    if policy == "paged" and not about.is_saturated:
        if outcome.shares.external > FULL:
            said.append(WORDS.say("not_full", external=outcome.shares.external, **numbers))
        if is_batch_close:
            said.append(WORDS.say("no_evidence", **numbers))
    elif policy == "paged" and batch.per_cent > CLOSE_BATCH:
        said.append(WORDS.say("saturated", **numbers))
    elif policy == "pow2" and (far.get("internal", 0) > 0 or far.get("external", 0) < 0):
        said.append(WORDS.say("pow2"))
    return said or ([] if is_batch_close and not far else [WORDS.say("lengths")])


def _drawn(about: StudyDescription, recipe: str) -> str:
    lengths = RECIPES[recipe]
    return WORDS.say(
        "drawn",
        input=about.mean_input,
        output=about.mean_output,
        paper_input=lengths.mean_input,
        paper_output=lengths.mean_output,
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
                max_length=MODEL_MAX_LENGTH,
                block_size=BLOCK_SIZE,
                rates=" or ".join(
                    f"{rate:,g} {RECIPES[name].title} requests a second"
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


def _savings(about: StudyDescription, recipe: str, pairs: tuple[Compared, ...]) -> list[str]:
    """A line for each number of answers, and what is known of how the paper measured."""
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
    if recipe == "alpaca" and any(pair.difference > CLOSE_POINTS for pair in pairs):
        said.append(WORDS.say("alpaca_saving"))
    if recipe == "sharegpt":
        said.append(WORDS.say("sharegpt_saving"))
    last = pairs[-1]
    beam = printed_saving(about, last.outcome, "beam")
    if beam is not None:
        answers = last.outcome.setup.answers
        numbers = {"beam": beam.value, "answers": answers, "parallel": last.paper.value}
        said.append(WORDS.say("beam", **numbers))
    return said
