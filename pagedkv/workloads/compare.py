"""Our figures beside the paper's: the same quantity, both values, and the difference."""

from dataclasses import dataclass

from pagedkv.workloads.outcome import Outcome
from pagedkv.workloads.paper import BATCHES, RATES, SAVINGS, SHARES, SLOTS, Printed
from pagedkv.workloads.study import About, Findings

PARTS = ("token", "reserved", "internal", "external")


@dataclass(frozen=True, slots=True)
class Compared:
    """``ours`` beside what the paper prints of it. ``what`` is a part, "batch" or "saved"."""

    outcome: Outcome
    what: str
    ours: float
    paper: Printed

    @property
    def difference(self) -> float:
        """Ours less the paper's, in the same unit."""
        return self.ours - self.paper.value

    @property
    def per_cent(self) -> float:
        """The difference in per cent of the paper's value."""
        return 100 * self.difference / self.paper.value


def is_of_the_paper(about: About, outcome: Outcome) -> bool:
    """Whether memory, workload and load are those of the paper's OPT-13B experiments.

    A queue that is never empty counts as well: under its load the reservations were that full.
    """
    if about.recipe is None:
        return False
    of_its_memory = (outcome.setup.slots, outcome.setup.block_size) == (SLOTS, 16)
    return of_its_memory and (about.is_saturated or about.rate == RATES[about.recipe])


def printed_shares(about: About, outcome: Outcome) -> dict[str, Printed]:
    """The parts that the paper prints for this policy, workload and memory: none, or by name."""
    alone = outcome.setup.answers == 1
    if about.recipe != "sharegpt" or not (alone and is_of_the_paper(about, outcome)):
        return {}
    return dict(SHARES[outcome.setup.policy])


def printed_batch(about: About, outcome: Outcome) -> Printed | None:
    """The mean batch that the paper prints for this policy, workload and memory."""
    if about.recipe is None or outcome.setup.answers != 1 or not is_of_the_paper(about, outcome):
        return None
    return BATCHES[about.recipe][outcome.setup.policy]


def printed_saving(about: About, outcome: Outcome, decoding: str = "parallel") -> Printed | None:
    """The saving that the paper prints for so many answers, by sampling or by beam search."""
    if about.recipe is None or not is_of_the_paper(about, outcome):
        return None
    return SAVINGS[about.recipe][decoding].get(outcome.setup.answers)


def compared(findings: Findings) -> tuple[Compared, ...]:
    """Every value of a study that the paper prints as well, in the order of the figures."""
    about, found = findings.about, []
    for outcome in findings.outcomes:
        if about.kind == "sharing":
            saving = printed_saving(about, outcome)
            if saving is not None:
                found.append(Compared(outcome, "saved", outcome.saved, saving))
            continue
        if about.kind != "policies":
            continue
        printed = printed_shares(about, outcome)
        for part in PARTS:
            if part in printed:
                ours = float(getattr(outcome.shares, part))
                found.append(Compared(outcome, part, ours, printed[part]))
        batch = printed_batch(about, outcome)
        if batch is not None:
            found.append(Compared(outcome, "batch", outcome.mean_batch, batch))
    return tuple(found)
