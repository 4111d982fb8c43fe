"""What ``simulate --json`` prints: the workload, and one policy's figures, as plain values."""

from pagedkv.workloads.asked_workload import AskedWorkload
from pagedkv.workloads.outcome import Outcome

DECIMALS = 4


def workload_to_dict(asked: AskedWorkload) -> dict[str, object]:
    """The requests that run; of a file also what it was read as, and how many rows were not."""
    workload, trace = asked.workload, asked.trace
    found: dict[str, object] = {
        "name": workload.name,
        "requests": len(workload),
        "mean_input": round(workload.mean_input, DECIMALS),
        "mean_output": round(workload.mean_output, DECIMALS),
    }
    if trace is not None:
        found |= {"format": trace.format.name, "rows_left_out": trace.num_left_out}
    return found


def outcome_to_dict(outcome: Outcome) -> dict[str, object]:
    """One policy's figures, percentages to four decimals."""
    shares = outcome.shares
    return {
        "policy": outcome.setup.policy,
        "token_pct": round(shares.token, DECIMALS),
        "reserved_pct": round(shares.reserved, DECIMALS),
        "internal_pct": round(shares.internal, DECIMALS),
        "external_pct": round(shares.external, DECIMALS),
        "mean_batch": round(outcome.mean_batch, DECIMALS),
        "finished": outcome.finished,
        "preemptions": outcome.preemptions,
        "turned_away": outcome.turned_away,
        "iterations": outcome.iterations,
        "measured": outcome.measured,
        "measured_from": outcome.measured_from,
        "idle": outcome.idle,
        "saved_pct": round(outcome.saved, DECIMALS),
    }
