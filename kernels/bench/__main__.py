"""Check first, then measure; see the package."""

import sys
from datetime import date

import torch

import kernels
from kernels.bench.without_gpu import report
from kernels.correctness import BOUNDS, worst_errors


def main() -> int:
    """Print everything; the exit code is 1 if the kernels are wrong."""
    runtime = kernels.runtime()
    print(f"{date.today()}, {runtime['gpu'] or 'no GPU'}, kernels: {runtime['backend']}")
    if not is_right(torch.device(runtime["device"])):
        return 1
    if runtime["backend"] == "triton-cuda":
        measure_gpu()
    else:
        print(*report(), sep="\n")
        print("No GPU, so no speed of the kernels: run this where there is one.")
    return 0


def is_right(device: torch.device) -> bool:
    """Print the errors against the float64 oracle; say if all are within their bounds."""
    errors = worst_errors(device)
    for dtype, error in errors.items():
        print(f"relative error, {dtype}: {error:.1e} (at most {BOUNDS[dtype]:.0e})", flush=True)
    right = all(error <= BOUNDS[dtype] for dtype, error in errors.items())
    if not right:
        print("The kernels are wrong here; nothing was measured.")
    return right


def measure_gpu() -> None:
    """Print what is measured as it comes, and the goals at the end."""
    from kernels.bench.on_gpu import Goal, measure

    goals = []
    for result in measure():
        if isinstance(result, Goal):
            goals.append(result)
        else:
            print(result, flush=True)
    print("\n| goal | wanted | measured | reached |\n|---|---|---|---|")
    for goal in goals:
        reached = {True: "yes", False: "NO", None: "-"}[goal.reached]
        print(f"| {goal.what} | {goal.wanted} | {goal.measured} | {reached} |")


if __name__ == "__main__":
    sys.exit(main())
