"""The command line: lessons, their traces, simulated workloads, and plans for real GPUs.

    python -m pagedkv lessons [--json]
    python -m pagedkv trace LESSON [--block-size N] [--capacity N] [--prompt-length N] [--seed N]
                                   [--json]
    python -m pagedkv simulate [--workload sharegpt|alpaca|FILE] [--policy max,pow2,oracle,paged]
                               [--requests N] [--block-size N] [--slots N] [--answers N] [--seed N]
                               [--max-len N] [--rate R] [--iteration-ms MS] [--skip-bad-rows]
                               [--json]
    python -m pagedkv plan (--model NAME | --config FILE | --layers N --kv-heads N --head-dim N)
                           (--kv-gib N | --gpu-gib N --utilization N --weights-gib N
                           --overhead-gib N) [--dtype-bytes N] [--tp N] [--block-size N]
                           [--max-len N] [--json]

Bad input ends with exit code 2 and one line that names the value and what would be right; so does
a bad ``PAGEDKV_DEVICE`` or ``PAGEDKV_BACKEND``, which ``pagedkv`` itself meets before this runs.
Ctrl-C ends with exit code 130.
"""

import argparse
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper

from pagedkv.lessons import LESSONS, UnknownLessonError, find_lesson
from pagedkv.number_from_text import number_from_text
from pagedkv.planner import PlanError
from pagedkv.planner.command import add_plan, print_plan
from pagedkv.recorder import record
from pagedkv.settings import RANGES, Settings, SettingsError
from pagedkv.trace.as_json import trace_to_dict
from pagedkv.trace.as_text import trace_to_text
from pagedkv.workloads import WorkloadError
from pagedkv.workloads.command import add_simulate, print_simulate


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    options = _parser().parse_args(with_values_joined(given))
    try:
        text = COMMANDS[options.command](options)
    except (SettingsError, UnknownLessonError, WorkloadError, PlanError) as error:
        print(f"pagedkv: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("pagedkv: stopped", file=sys.stderr)
        return STOPPED
    print_all(text)
    return 0


def with_values_joined(arguments: Sequence[str]) -> list[str]:
    """``--flag -1e3`` as ``--flag=-1e3``, to be refused by name.

    argparse takes "-1e3", "-inf" and whatever else begins like an option for one.

    >>> with_values_joined(["plan", "--kv-gib", "-1e3", "--json"])
    ['plan', '--kv-gib=-1e3', '--json']
    """
    joined: list[str] = []
    for argument in arguments:
        is_value = argument.startswith("-") and not argument.startswith("--") and argument != "-h"
        if is_value and joined and re.fullmatch("--[^=]+", joined[-1]):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def print_all(text: str) -> None:
    """Print in UTF-8 on every system, and let a reader go who has seen enough (``| head``)."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes once more when it ends, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_lessons(options: argparse.Namespace) -> str:
    """The lessons in order, a line each, or as JSON."""
    if options.json:
        return json.dumps(
            [
                {
                    "slug": lesson.slug,
                    "order": lesson.order,
                    "figure": lesson.figure,
                    "title": lesson.title,
                    "question": lesson.question,
                    "takeaway": lesson.takeaway,
                    "minutes": lesson.minutes,
                }
                for lesson in LESSONS
            ],
            ensure_ascii=False,
            indent=2,
        )
    return "\n".join(f"{lesson.slug:22} {lesson.question}" for lesson in LESSONS)


def print_trace(options: argparse.Namespace) -> str:
    """One lesson's trace as text, or as JSON."""
    lesson = find_lesson(options.lesson)
    settings = Settings(**{name: getattr(options, name) for name in RANGES})
    trace = record(lesson, settings)
    if options.json:
        return json.dumps(trace_to_dict(trace), ensure_ascii=False, allow_nan=False)
    return trace_to_text(trace, lesson.title).rstrip()


STOPPED = 128 + signal.SIGINT  # what shells call a command that Ctrl-C ended

# How each command becomes a text; what it raises is told in a line.
COMMANDS: dict[str, Callable[[argparse.Namespace], str]] = {
    "lessons": print_lessons,
    "trace": print_trace,
    "simulate": print_simulate,
    "plan": print_plan,
}


def whole_number(text: str) -> int | str:
    """The number that ``text`` writes; other text as it is, for ``Settings`` to refuse by name."""
    number = number_from_text(text)
    return number if isinstance(number, int) else text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pagedkv", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    lessons = commands.add_parser("lessons", help="list the lessons")
    lessons.add_argument("--json", action="store_true", help="as JSON")
    trace = commands.add_parser("trace", help="run a lesson and print its trace")
    trace.add_argument("lesson", metavar="LESSON", help="a lesson's slug")
    trace.add_argument("--json", action="store_true", help="as JSON")
    defaults = Settings()
    for name, allowed in RANGES.items():
        trace.add_argument(
            f"--{name.replace('_', '-')}",
            type=whole_number,
            default=getattr(defaults, name),
            metavar="N",
            help=f"{allowed[0]} to {allowed[-1]}, default {getattr(defaults, name)}",
        )
    add_simulate(commands)
    add_plan(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
