"""``python -m pagedkv simulate``: a workload under several policies, as a table or as JSON."""

import argparse
import json
from pathlib import Path
from typing import Any

from pagedkv.number_from_text import number_from_text
from pagedkv.workloads.makers import DEFAULT_REQUESTS, DEFAULT_SEED, RECIPES, make_workload
from pagedkv.workloads.messages import any_of, counted, cut
from pagedkv.workloads.outcome import Outcome
from pagedkv.workloads.progress_line import progress_line
from pagedkv.workloads.ranges import require_number
from pagedkv.workloads.setup import POLICIES, Setup, max_length_for
from pagedkv.workloads.simulation import Simulation
from pagedkv.workloads.trace_file import LARGEST_FILE, TraceError, read_trace
from pagedkv.workloads.trace_formats import column_names
from pagedkv.workloads.workload import Workload, WorkloadError

DECIMALS = 4
DEFAULTS = Setup()

TABLE_HEAD = (
    *("policy", "token %", "reserved %", "internal %", "external %"),
    *("mean batch", "finished", "preempted", "iterations"),
)
NUMBERS = {  # option -> (its range, what it says)
    "requests": ("requests", f"how many; default {DEFAULT_REQUESTS}, or all of a file"),
    "block-size": ("block_size", f"slots in a block; default {DEFAULTS.block_size}"),
    "slots": ("slots", f"slots of KV memory; default {DEFAULTS.slots}, OPT-13B's on one A100"),
    "answers": (
        "answers",
        f"answers to each prompt, which share its full blocks; default {DEFAULTS.answers}",
    ),
    "seed": ("seed", f"the same seed gives the same requests; default {DEFAULT_SEED}"),
    "max-len": (
        "max_length",
        f"the model's maximum length; default {DEFAULTS.max_length}, or a file's longest",
    ),
}


def add_simulate(commands: Any) -> None:
    """Add the command to the parser's others."""
    parser = commands.add_parser("simulate", help="run a workload under several memory policies")
    parser.add_argument(
        "--workload", default="sharegpt", metavar="|".join([*RECIPES, "FILE"]), help="or a trace"
    )
    parser.add_argument("--policy", default=",".join(POLICIES), metavar=",".join(POLICIES))
    for name, (_, explanation) in NUMBERS.items():
        parser.add_argument(f"--{name}", type=_number, metavar="N", help=explanation)
    parser.add_argument("--rate", type=_number, metavar="R", help="requests a second; else at once")
    parser.add_argument(
        "--iteration-ms",
        type=_number,
        metavar="MS",
        help=f"how long an iteration takes; default {DEFAULTS.iteration_ms:g}",
    )
    parser.add_argument("--skip-bad-rows", action="store_true", help="leave bad rows of a file out")
    parser.add_argument("--json", action="store_true", help="as JSON")


def print_simulate(options: argparse.Namespace) -> str:
    """Run the workload under each policy; raises ``WorkloadError`` for what cannot be."""
    policies = _policies(options.policy)
    for option, (name, _) in NUMBERS.items():
        if (value := getattr(options, option.replace("-", "_"))) is not None:
            require_number(name, value)
    given = {
        name: value
        for name in ("slots", "block_size", "answers", "iteration_ms")
        if (value := getattr(options, name)) is not None
    }
    Setup(**given)  # a wrong number is told before a file is read
    workload, told = _workload(options)
    longest = options.max_len or max_length_for(workload)
    outcomes = []
    for policy in policies:
        simulation = Simulation(workload, Setup(policy=policy, max_length=longest, **given))
        with progress_line(policy) as on_progress:
            simulation.run(on_progress)
        outcomes.append(simulation.outcome())
    if options.json:
        return json.dumps({"policies": [outcome_to_dict(outcome) for outcome in outcomes]})
    return "\n".join([*told, "", *_table(outcomes)])


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
    }


def _number(text: str) -> int | float | str:
    """The number that ``text`` writes; other text as it is, to be refused by name."""
    number = number_from_text(text)
    return text if number is None else number


def _policies(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in POLICIES:
            raise WorkloadError(f"policy is {cut(name)}; it must be {any_of(POLICIES)}")
        if names.count(name) > 1:
            raise WorkloadError(f"policy names {name} {names.count(name)} times; once is enough")
    return names


def _workload(options: argparse.Namespace) -> tuple[Workload, list[str]]:
    """The workload, and what is to be told of it."""
    workload, told = (_made if options.workload in RECIPES else _opened)(options)
    requests = counted(len(workload), "request")
    lengths = f"{workload.mean_input:.2f} tokens in, {workload.mean_output:.2f} out on average"
    return workload, [f"{workload.name}: {requests}, {lengths}", *told]


def _made(options: argparse.Namespace) -> tuple[Workload, list[str]]:
    if options.skip_bad_rows:
        raise WorkloadError(f"skip-bad-rows is for files; {options.workload} has no bad rows")
    if options.rate is None and options.iteration_ms is not None:
        raise WorkloadError("iteration-ms needs rate; without it all requests are there at once")
    count = DEFAULT_REQUESTS if options.requests is None else options.requests
    seed = DEFAULT_SEED if options.seed is None else options.seed
    return make_workload(options.workload, count, seed, options.rate), []


def _opened(options: argparse.Namespace) -> tuple[Workload, list[str]]:
    if options.rate is not None:
        raise WorkloadError("rate is for made workloads; a file brings its own arrivals")
    if options.seed is not None:
        raise WorkloadError("seed is for made workloads; nothing in a file is left to chance")
    workload, told = _read(options.workload, options.skip_bad_rows)
    asked = options.requests or len(workload)
    if asked > len(workload):
        told.append(f"{asked} requests were asked for; these are all that the file has")
    elif asked < len(workload):
        told.append(f"the first {asked} of the {len(workload)} in the file")
    return workload.first(asked), told


def _read(name: str, skip_bad_rows: bool) -> tuple[Workload, list[str]]:
    path = Path(name)
    wanted = any_of((*RECIPES, "a file that can be read"))
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise WorkloadError(f"workload is {cut(name)}; it must be {wanted} ({reason})") from None
    try:
        trace = read_trace(path.name, data, skip_bad_rows=skip_bad_rows)
    except TraceError as error:
        remedy = ". --skip-bad-rows leaves them out" if error.num_bad_rows else ""
        raise WorkloadError(f"{cut(path.name)}: {error}{remedy}") from None
    told = [f"read as {trace.format.name}: {column_names(trace.format)}"]
    if trace.num_left_out:
        rows = counted(trace.num_left_out, "row")
        told.append(f"{rows} left out, the first being {trace.left_out[0]}")
    return trace.workload, told


def _table(outcomes: list[Outcome]) -> list[str]:
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
                f"{outcome.mean_batch:.2f}",
                *map(str, counts),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    return [*lines, "", *map(_measured_words, outcomes)]


def _measured_words(outcome: Outcome) -> str:
    """Over which iterations the means go, and who could never run."""
    iterations = counted(outcome.measured, "iteration")
    until = ", until the last request has left the queue" if outcome.is_steady else ""
    means = f"means over {iterations} from number {outcome.measured_from} on{until}"
    words = f"{outcome.setup.policy}: {means if outcome.measured else 'nobody ever ran'}."
    if outcome.measured and outcome.idle:
        words += f" Nobody ran in {counted(outcome.idle, 'other')}, which no mean counts."
    if outcome.turned_away:
        requests = counted(outcome.turned_away, "request")
        verb = "was" if outcome.turned_away == 1 else "were"
        words += f" {requests} would never fit and {verb} turned away."
    return words
