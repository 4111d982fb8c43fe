"""Check first, then measure; see the package."""

import sys
from datetime import date

import torch

import kernels
from kernels.backend import Runtime
from kernels.bench.answers import AnotherAnswer
from kernels.bench.goals import Goal
from kernels.bench.without_gpu import report
from kernels.correctness import BOUNDS, worst_errors


def main() -> int:
    """Print everything; returns the exit code, which is 1 if the kernels are wrong."""
    runtime = kernels.runtime()
    print(f"{date.today()}, {runtime['gpu'] or 'no GPU'}, kernels: {runtime['backend']}")
    if not is_right(torch.device(runtime["device"])):
        return 1
    if runtime["backend"] == "triton-cuda":
        return 0 if measure_gpu() else 1
    print(*report(), sep="\n")
    print(why_no_speed(runtime))
    return 0


def why_no_speed(runtime: Runtime) -> str:
    """Why the kernels' speed was not measured in this process."""
    if runtime["gpu"] is None:
        return "No GPU is in use, so no speed of the kernels: run this where there is one."
    return (
        f"{runtime['gpu']} is there, but this process runs {runtime['backend']} instead of the "
        "kernels, so no speed of theirs: PAGEDKV_BACKEND=triton measures it."
    )


def is_right(device: torch.device) -> bool:
    """Print the errors against the float64 oracle; say if all are within their bounds."""
    errors = worst_errors(device)
    for dtype, error in errors.items():
        print(f"relative error, {dtype}: {error:.1e} (at most {BOUNDS[dtype]:.0e})", flush=True)
    right = all(error <= BOUNDS[dtype] for dtype, error in errors.items())
    if not right:
        print("The kernels are wrong here; nothing was measured.")
    return right


def measure_gpu() -> bool:
    """Print what is measured as it comes, and the goals at the end; say if our answers are right.

    That the goals are reached is not asked for: they are for a reader to see.
    """
    from kernels.bench.on_gpu import measure

    goals = []
    try:
        for result in measure():
            if isinstance(result, Goal):
                goals.append(result)
            else:
                print(result, flush=True)
    except AnotherAnswer as error:
        print(f"The kernels are wrong here ({error}); nothing more was measured.")
        return False
    print("\n| goal | wanted | measured | reached |\n|---|---|---|---|")
    for goal in goals:
        reached = {True: "yes", False: "NO", None: "-"}[goal.reached]
        print(f"| {goal.what} | {goal.wanted} | {goal.measured} | {reached} |")
    return True


if __name__ == "__main__":
    sys.exit(main())
