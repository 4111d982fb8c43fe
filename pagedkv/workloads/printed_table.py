"""What ``simulate`` prints for people: the workload, a table, and what its means are of."""

from pagedkv.workloads.asked_workload import AskedWorkload
from pagedkv.workloads.messages import counted
from pagedkv.workloads.outcome import Outcome
from pagedkv.workloads.trace_formats import column_names

TABLE_HEAD = (
    *("policy", "token %", "reserved %", "internal %", "external %"),
    *("mean batch", "finished", "preempted", "iterations"),
)


def workload_lines(asked: AskedWorkload) -> list[str]:
    """How many requests run and how long they are; of a file also how it was read."""
    workload, trace = asked.workload, asked.trace
    requests = counted(len(workload), "request")
    lengths = f"{workload.mean_input:,.2f} tokens in, {workload.mean_output:,.2f} out on average"
    said = [f"{workload.name}: {requests}, {lengths}"]
    if trace is None:
        return said
    said.append(f"read as {trace.format.name}: {column_names(trace.format)}")
    if trace.num_left_out:
        rows = counted(trace.num_left_out, "row")
        said.append(f"{rows} left out, the first being {trace.left_out[0]}")
    in_file = len(trace.workload)
    if asked.num_asked > in_file:
        said.append(f"{asked.num_asked:,} requests were asked for; these are all that the file has")
    elif asked.num_asked < in_file:
        said.append(f"the first {asked.num_asked:,} of the {in_file:,} in the file")
    return said


def table_lines(outcomes: list[Outcome]) -> list[str]:
    """The figures, a line for each policy, in columns as wide as they need."""
    rows: list[tuple[str, ...]] = [TABLE_HEAD]
    for outcome in outcomes:
        shares = outcome.shares
        parts = (shares.token, shares.reserved, shares.internal, shares.external)
        counts = (outcome.finished, outcome.preemptions, outcome.iterations)
        rows.append(
            (
                outcome.setup.policy,
                *(f"{part:.1f}" for part in parts),
                f"{outcome.mean_batch:,.2f}",
                *(f"{count:,}" for count in counts),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    return [*lines, "", *map(_measured_words, outcomes), *_sharing_lines(outcomes)]


def _sharing_lines(outcomes: list[Outcome]) -> list[str]:
    """What is counted where a prompt has several answers, and what they save; else nothing."""
    answers = outcomes[0].setup.answers
    if answers == 1:
        return []
    return [
        f"A batch counts requests; each has {answers} answers.",
        *(
            f"{outcome.setup.policy}: sharing prompts saves {outcome.saved:.1f} % of the blocks."
            for outcome in outcomes
            if outcome.setup.policy == "paged" and outcome.measured
        ),
    ]


def _measured_words(outcome: Outcome) -> str:
    """Over which iterations the means go, and who could never run."""
    iterations = counted(outcome.measured, "iteration")
    until = ", until the last request has left the queue" if outcome.is_steady else ""
    means = f"means over {iterations} from number {outcome.measured_from:,} on{until}"
    words = f"{outcome.setup.policy}: {means if outcome.measured else 'nobody ever ran'}."
    if outcome.measured and outcome.idle:
        words += f" Nobody ran in {counted(outcome.idle, 'other')}, which no mean counts."
    if outcome.turned_away:
        requests = counted(outcome.turned_away, "request")
        verb = "was" if outcome.turned_away == 1 else "were"
        words += f" {requests} would never fit and {verb} turned away."
    return words
