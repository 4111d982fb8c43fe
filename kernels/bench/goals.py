"""What the measurement should reach, judged from times alone: nothing is measured here."""

from collections.abc import Mapping
from dataclasses import dataclass

from kernels.bench.workload import Workload

COMPARED = Workload(32, 4096)  # 537 MB of K and V; what rivals are given
LARGE = 500_000_000  # bytes of K and V from which on bandwidth counts
SHARE_OF_BANDWIDTH = 0.88
PERMUTED_TO_IN_ORDER = 1.02
NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Goal:
    """A ratio to reach, and what it was; ``reached`` is None where it could not be measured."""

    what: str
    wanted: str
    measured: str
    reached: bool | None


def goals(
    ours: Mapping[Workload, float],
    in_order: float | None,
    rivals: Mapping[str, float],
    bandwidth: float,
) -> tuple[Goal, ...]:
    """Judge a measurement: the share of bandwidth of every large workload, then the comparisons.

    ``ours``: seconds of our kernel by workload. For the workload ``COMPARED`` also ``in_order``,
    its seconds with the blocks in order, and ``rivals``, seconds by the name in ``RIVALS``; what is
    missing was not measured. ``bandwidth``: bytes per second of the GPU's own copy.
    """
    seconds = ours.get(COMPARED)
    return (
        *(_bandwidth(workload, ours[workload], bandwidth) for workload in ours if _large(workload)),
        _at_most("permuted table / table in order", PERMUTED_TO_IN_ORDER, seconds, in_order),
        _at_most("time / SDPA's on contiguous KV", 1.0, seconds, rivals.get("SDPA, KV contiguous")),
        _at_least("times faster than gather + SDPA", 3.0, rivals.get("gather + SDPA"), seconds),
        _at_least("share of FlashInfer's speed", 0.95, rivals.get("FlashInfer"), seconds),
    )


def _large(workload: Workload) -> bool:
    return workload.kv_bytes >= LARGE


def _bandwidth(workload: Workload, seconds: float, bandwidth: float) -> Goal:
    """The time that moving K and V would take at the copy's pace, over the time that it took."""
    what = f"share of copy bandwidth, {workload}"
    return _at_least(what, SHARE_OF_BANDWIDTH, workload.kv_bytes / bandwidth, seconds)


def _at_least(what: str, bound: float, over: float | None, under: float | None) -> Goal:
    wanted = f">= {bound:g}"
    if over is None or under is None:
        return Goal(what, wanted, NOT_MEASURED, None)
    return Goal(what, wanted, f"{over / under:.3f}", over / under >= bound)


def _at_most(what: str, bound: float, over: float | None, under: float | None) -> Goal:
    wanted = f"<= {bound:g}"
    if over is None or under is None:
        return Goal(what, wanted, NOT_MEASURED, None)
    return Goal(what, wanted, f"{over / under:.3f}", over / under <= bound)
