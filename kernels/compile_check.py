"""``python -m kernels.compile_check [--json]``: what the kernels become for GPUs, without a GPU.

Compiles every kernel for four architectures and prints a line each: registers, spills, shared
memory beside the architecture's limit, loads of 16 bytes, tensor-core instructions. These are facts
about machine code and no speeds. Exit code 1 if a kernel spills or asks for too much shared memory,
2 if Triton is missing or refuses a kernel.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

COLUMNS = {  # of the table: the heading of each, and what it shows of a row
    "kernel": "kernel",
    "target": "target",
    "registers": "registers",
    "spills": "spills",
    "shared": "shared",
    "limit": "shared_limit",
    "16-byte loads": "wide_loads",
    "tensor core": "tensor_core_ops",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table or, with ``--json``, the rows; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m kernels.compile_check", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args(arguments)
    try:
        rows = compile_rows()
    except CompileError as error:
        print(f"kernels.compile_check: {error}", file=sys.stderr)
        return 2
    print(json.dumps(rows) if options.json else as_table(rows))
    return 1 if any(is_bad(row) for row in rows) else 0


class CompileError(RuntimeError):
    """The kernels could not be compiled at all; says why."""


def compile_rows() -> list[dict[str, Any]]:
    """Compile in a process of its own: in this one Triton may be interpreting for good.

    Raises ``CompileError`` where Triton is missing or refuses a kernel.
    """
    environment = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    environment |= {"PAGEDKV_DEVICE": "auto", "PAGEDKV_BACKEND": "triton"}
    # The package's folder must be found, whatever folder the command is given in.
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-c", CHILD]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(f"compiling failed:\n{done.stderr.strip()}")
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


# torch says that there is CUDA before anything of ours is imported, so that nothing is interpreted.
CHILD = """
import torch
torch.cuda.is_available = lambda: True
from kernels.compile_facts import main
main()
"""


def is_bad(row: dict[str, Any]) -> bool:
    """A kernel that spills is slow; one that asks for too much shared memory does not start."""
    return bool(row["spills"] > 0 or row["shared"] > row["shared_limit"])


def as_table(rows: Sequence[dict[str, Any]]) -> str:
    """One line a kernel and target, numbers below each other."""
    lines = [tuple(COLUMNS), *(tuple(str(row[key]) for key in COLUMNS.values()) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


if __name__ == "__main__":
    sys.exit(main())
