"""``python -m pagedkv simulate``: a workload under several policies, as a table or as JSON."""

import argparse
import json
from typing import Any

from pagedkv.number_from_text import number_from_text
from pagedkv.workloads.asked_workload import asked_workload
from pagedkv.workloads.makers import DEFAULT_REQUESTS, DEFAULT_SEED, RECIPES
from pagedkv.workloads.messages import any_of, cut
from pagedkv.workloads.printed_json import outcome_to_dict, workload_to_dict
from pagedkv.workloads.printed_table import table_lines, workload_lines
from pagedkv.workloads.progress_line import progress_line
from pagedkv.workloads.ranges import require_number
from pagedkv.workloads.setup import POLICIES, Setup, max_length_for
from pagedkv.workloads.simulation import Simulation
from pagedkv.workloads.workload import WorkloadError

DEFAULTS = Setup()

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
    asked = asked_workload(options)
    workload = asked.workload
    longest = options.max_len or max_length_for(workload)
    outcomes = []
    for policy in policies:
        simulation = Simulation(workload, Setup(policy=policy, max_length=longest, **given))
        with progress_line(policy) as on_progress:
            simulation.run(on_progress)
        outcomes.append(simulation.outcome())
    if options.json:
        found = [outcome_to_dict(outcome) for outcome in outcomes]
        return json.dumps({"workload": workload_to_dict(asked), "policies": found})
    return "\n".join([*workload_lines(asked), "", *table_lines(outcomes)])


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
