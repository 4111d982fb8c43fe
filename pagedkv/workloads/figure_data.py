"""A study's findings as the figures get them: labels and plain numbers, ours and the paper's."""

from collections.abc import Mapping
from dataclasses import dataclass

from pagedkv.workloads.compare import (
    PARTS,
    compared,
    printed_batch,
    printed_saving,
    printed_shares,
)
from pagedkv.workloads.names import NAMES, setup_words
from pagedkv.workloads.study import Findings


@dataclass(frozen=True, slots=True)
class ShareBar:
    """One bar of the memory: per cent of each part by name, in order; None: not printed."""

    policy: str
    is_paper: bool
    parts: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class BatchLine:
    """Requests in a batch over (iteration, mean) points; the means of all, and the paper's.

    ``policy`` is one of ``POLICIES``, ``name`` how it is shown.
    """

    policy: str
    name: str
    points: tuple[tuple[int, float], ...]
    mean: float
    paper: float | None


@dataclass(frozen=True, slots=True)
class SizePoint:
    """A block size: per cent of the held slots that are empty, and the mean batch."""

    block_size: int
    empty: float
    batch: float


@dataclass(frozen=True, slots=True)
class Saving:
    """So many answers: per cent of blocks saved, and what the paper prints."""

    answers: int
    ours: float
    sampling: float | None
    beam: float | None


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A value of ours beside the paper's, with the source: a row of a table."""

    what: str
    quantity: str
    ours: float
    paper: float
    difference: float
    where: str
    certainty: str


def share_bars(findings: Findings) -> tuple[ShareBar, ...]:
    """A bar for each policy, and one beside it where the paper prints it."""
    bars = []
    for outcome in findings.outcomes:
        name = NAMES[outcome.setup.policy]
        ours = {part: float(getattr(outcome.shares, part)) for part in PARTS}
        bars.append(ShareBar(name, False, ours))
        printed = printed_shares(findings.about, outcome)
        if printed:
            theirs = {part: printed[part].value if part in printed else None for part in PARTS}
            bars.append(ShareBar(name, True, theirs))
    return tuple(bars)


def batch_lines(findings: Findings) -> tuple[BatchLine, ...]:
    """A line for each policy."""
    lines = []
    for outcome in findings.outcomes:
        printed = printed_batch(findings.about, outcome)
        paper = None if printed is None else printed.value
        policy = outcome.setup.policy
        lines.append(BatchLine(policy, NAMES[policy], outcome.batches, outcome.mean_batch, paper))
    return tuple(lines)


def size_points(findings: Findings) -> tuple[SizePoint, ...]:
    """A point for each block size."""
    return tuple(
        SizePoint(outcome.setup.block_size, outcome.shares.empty_of_held, outcome.mean_batch)
        for outcome in findings.outcomes
    )


def savings(findings: Findings) -> tuple[Saving, ...]:
    """A group of bars for each number of answers."""
    found = []
    for outcome in findings.outcomes:
        sampling = printed_saving(findings.about, outcome)
        beam = printed_saving(findings.about, outcome, "beam")
        found.append(
            Saving(
                outcome.setup.answers,
                outcome.saved,
                None if sampling is None else sampling.value,
                None if beam is None else beam.value,
            )
        )
    return tuple(found)


def compared_rows(findings: Findings) -> tuple[ComparedRow, ...]:
    """Every value that the paper prints as well."""
    quantities = {"batch": "mean batch", "saved": "blocks saved, %"}
    return tuple(
        ComparedRow(
            what=setup_words(findings.about.kind, pair.outcome.setup),
            quantity=quantities.get(pair.what, f"{pair.what}, %"),
            ours=pair.ours,
            paper=pair.paper.value,
            difference=pair.difference,
            where=pair.paper.where,
            certainty=pair.paper.certainty.value,
        )
        for pair in compared(findings)
    )
