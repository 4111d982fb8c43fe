"""Which policy runs the most requests at a time, in a sentence, where that can be told."""

from pagedkv.trace.written import Phrases
from pagedkv.workloads.compare import compared
from pagedkv.workloads.names import NAMES
from pagedkv.workloads.outcome import Outcome
from pagedkv.workloads.study import Findings

ALIKE = 1.05  # times; what batches or shares differ less is no difference

WORDS = Phrases(
    {
        "most": "**{best} runs {batch:,.1f} requests at a time, {factor:,.1f} times as many as "
        "{worst} ({least:,.1f})**, in the same memory{because}.",
        "because": ", because {token:.1f} % of it holds tokens, not {little:.1f} %",
        "all_alike": "All run about {batch:,.1f} requests at a time: here it is not memory that "
        "limits them.",
        "paper_factor": "In the paper it is {factor:,.1f} times.",
    }
)


def most_words(findings: Findings, ended: tuple[Outcome, ...]) -> str:
    """Name the policy with the largest mean batch of ``ended``, in which somebody ran.

    All of them must have run the same requests.
    """
    most = max(outcome.mean_batch for outcome in ended)
    best = next(o for o in reversed(ended) if o.mean_batch * ALIKE > most)  # of equals the last
    worst = min(ended, key=lambda outcome: outcome.mean_batch)
    if most < ALIKE * worst.mean_batch:
        return WORDS.say("all_alike", batch=best.mean_batch)
    words = WORDS.say(
        "most",
        best=NAMES[best.setup.policy],
        batch=best.mean_batch,
        factor=best.mean_batch / worst.mean_batch,
        worst=NAMES[worst.setup.policy],
        least=worst.mean_batch,
        because=_because(best, worst),
    )
    batches = {p.outcome: p.paper.value for p in compared(findings) if p.what == "batch"}
    if best in batches and worst in batches:
        factor = batches[best] / batches[worst]
        words = f"{words} {WORDS.say('paper_factor', factor=factor)}"
    return words


def _because(best: Outcome, worst: Outcome) -> str:
    """Why more run, if more of the memory holds tokens; else it is for another cause."""
    token, little = best.shares.token, worst.shares.token
    return WORDS.say("because", token=token, little=little) if token > ALIKE * little else ""
