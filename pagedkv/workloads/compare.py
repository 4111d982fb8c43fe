"""Our figures beside the paper's: the same quantity, both values, and the difference."""

from dataclasses import dataclass, fields
from enum import StrEnum
from itertools import chain

from pagedkv.workloads.kinds import StudyKind
from pagedkv.workloads.makers import MODEL_MAX_LENGTH
from pagedkv.workloads.outcome import Outcome, Shares
from pagedkv.workloads.paper import BATCHES, BLOCK_SIZE, RATES, SAVINGS, SHARES, SLOTS, Printed
from pagedkv.workloads.setup import ITERATION_MS
from pagedkv.workloads.simulation import WARM_UP
from pagedkv.workloads.study import Findings, StudyDescription

PARTS = tuple(field.name for field in fields(Shares))
ENOUGH = 2000  # ended requests; with fewer the lengths that chance drew decide what comes out


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


class NotBeside(StrEnum):
    """Why the paper's OPT-13B experiments are not set beside an outcome."""

    OTHER = "other"  # memory, workload or load than the paper's
    CLOCK = "clock"  # another than that by which its requests came
    FEW = "few"  # requests that ended, or iterations that were measured


def not_beside_the_paper(about: StudyDescription, outcome: Outcome) -> NotBeside | None:
    """Why the paper is not set beside an outcome; None if it is.

    A queue that is never empty is no other load: under the paper's the reservations were that full.
    """
    setup = outcome.setup
    if about.recipe is None or (setup.slots, setup.block_size) != (SLOTS, BLOCK_SIZE):
        return NotBeside.OTHER
    if setup.max_length != MODEL_MAX_LENGTH:
        return NotBeside.OTHER
    if about.kind is StudyKind.POLICIES and setup.answers != 1:
        return NotBeside.OTHER
    if not about.is_saturated:
        if about.rate != RATES[about.recipe]:
            return NotBeside.OTHER
        if setup.iteration_ms != ITERATION_MS:
            return NotBeside.CLOCK
    was_full = outcome.is_steady and outcome.measured >= WARM_UP  # as long as it took to fill
    return None if was_full and outcome.finished >= ENOUGH else NotBeside.FEW


def printed_shares(about: StudyDescription, outcome: Outcome) -> dict[str, Printed]:
    """The parts that the paper prints for this policy, workload and memory: none, or by name."""
    if about.recipe != "sharegpt" or not_beside_the_paper(about, outcome):
        return {}
    return dict(SHARES[outcome.setup.policy])


def printed_batch(about: StudyDescription, outcome: Outcome) -> Printed | None:
    """The mean batch that the paper prints for this policy, workload and memory."""
    if about.recipe is None or not_beside_the_paper(about, outcome):
        return None
    return BATCHES[about.recipe][outcome.setup.policy]


def printed_saving(
    about: StudyDescription, outcome: Outcome, decoding: str = "parallel"
) -> Printed | None:
    """The saving that the paper prints for so many answers, by sampling or by beam search."""
    if about.recipe is None or not_beside_the_paper(about, outcome):
        return None
    return SAVINGS[about.recipe][decoding].get(outcome.setup.answers)


def compared(findings: Findings) -> tuple[Compared, ...]:
    """Every value of a study that the paper prints as well, in the order of the figures."""
    about, outcomes = findings.about, findings.outcomes
    match about.kind:
        case StudyKind.POLICIES:
            found = [_policy_compared(about, outcome) for outcome in outcomes]
        case StudyKind.SHARING:
            found = [_saving_compared(about, outcome) for outcome in outcomes]
        case StudyKind.BLOCK_SIZES:
            found = []
    return tuple(chain.from_iterable(found))


def _policy_compared(about: StudyDescription, outcome: Outcome) -> list[Compared]:
    """The parts of the memory, and the batch behind them."""
    printed = printed_shares(about, outcome)
    found = [
        Compared(outcome, part, float(getattr(outcome.shares, part)), printed[part])
        for part in PARTS
        if part in printed
    ]
    batch = printed_batch(about, outcome)
    if batch is not None:
        found.append(Compared(outcome, "batch", outcome.mean_batch, batch))
    return found


def _saving_compared(about: StudyDescription, outcome: Outcome) -> list[Compared]:
    saving = printed_saving(about, outcome)
    return [] if saving is None else [Compared(outcome, "saved", outcome.saved, saving)]
