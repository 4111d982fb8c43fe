"""Compile the kernels as a GPU's launchers would, on any machine, and say what came out.

Run by ``kernels.compile_check`` in a process of its own, because Triton either interprets or
compiles for as long as a process lives. There torch says that there is CUDA; here Triton is told
which GPU it has, and each launch ends after compilation. What is counted stands in machine code.
"""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from kernels import attention_launch, copy_kernel, triton_backend, write_kernel

TOOLS = Path(triton.__file__).parent / "backends/nvidia/bin"
KIB = 1024


@dataclass(frozen=True, slots=True)
class Target:
    """A GPU architecture, and how much shared memory (LDS on AMD) one program may have there.

    Limits: CUDA C++ Programming Guide, table of technical specifications per compute capability;
    AMD CDNA 3 instruction set reference.
    """

    gpu: GPUTarget
    shared_limit: int  # bytes
    capability: tuple[int, int]  # as torch names it; AMD's gfx942 is 9.4


TARGETS = {
    "sm_80": Target(GPUTarget("cuda", 80, 32), 163 * KIB, (8, 0)),
    "sm_90": Target(GPUTarget("cuda", 90, 32), 227 * KIB, (9, 0)),
    "sm_100": Target(GPUTarget("cuda", 100, 32), 227 * KIB, (10, 0)),
    "gfx942": Target(GPUTarget("hip", "gfx942", 64), 64 * KIB, (9, 4)),
}


@dataclass(frozen=True, slots=True)
class Compiled:
    """What one kernel became for one target."""

    kernel: str
    target: str
    options: dict[str, Any]
    registers: int  # per thread; vector registers on AMD
    spills: int  # loads and stores of registers for which there was no room
    shared: int  # bytes
    shared_limit: int  # bytes
    wide_loads: int  # of 16 bytes at once
    tensor_core_ops: int


def compile_all(start: Callable[[], None], target: str) -> list[Compiled]:
    """Compile everything that ``start`` launches, for one of ``TARGETS``; nothing runs."""
    binaries = compile_binaries(start, target)
    return [_facts(kernel, target, options, binary) for kernel, options, binary in binaries]


def compile_binaries(
    start: Callable[[], None], target: str
) -> list[tuple[str, dict[str, Any], Any]]:
    """Compile everything that ``start`` launches: kernel's name, options, Triton's result."""
    compiled = []

    def compile_only(kernel: Any, grid: tuple[int, ...], *arguments: Any, **options: Any) -> None:
        binary = kernel.warmup(*arguments, grid=grid, **options)
        compiled.append((kernel.__name__, options, binary))

    with _pretending(target), _launching_by(compile_only):
        start()
    return compiled


@contextmanager
def _pretending(target_name: str) -> Iterator[None]:
    """Triton and the launchers find themselves on a machine with this GPU."""
    target = TARGETS[target_name]
    stub = SimpleNamespace(
        get_current_target=lambda: target.gpu,
        get_current_device=lambda: target_name,  # compiled kernels are kept per device
        get_current_stream=lambda device: 0,
    )
    driver.set_active(stub)
    with patch("torch.cuda.get_device_capability", lambda device=None: target.capability):
        yield


@contextmanager
def _launching_by(compile_only: Callable[..., None]) -> Iterator[None]:
    with ExitStack() as stack:
        for module in (attention_launch, copy_kernel, write_kernel):
            stack.enter_context(patch.object(module, "launch", compile_only))
        yield


def _facts(kernel: str, target: str, options: dict[str, Any], binary: Any) -> Compiled:
    is_cuda = "cubin" in binary.asm
    read = _cuda_code if is_cuda else _amd_code
    return Compiled(
        kernel=_name(kernel, options),
        target=target,
        options={key: v if isinstance(v, int) else str(v) for key, v in options.items()},
        shared=binary.metadata.shared,
        shared_limit=TARGETS[target].shared_limit,
        **read(binary.asm),
    )


def _name(kernel: str, options: dict[str, Any]) -> str:
    """A prefill is the attention kernel with several queries to a program."""
    is_prefill = options.get("QUERIES", 1) > 1
    return "paged_prefill" if is_prefill else kernel.removesuffix("_kernel")


def _cuda_code(asm: dict[str, Any]) -> dict[str, int]:
    ptx = asm["ptx"]
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(asm["cubin"])
        file.flush()
        usage, sass = _cuobjdump("-res-usage", file.name), _cuobjdump("-sass", file.name)
    (registers,) = re.findall(r"REG:(\d+)", usage)
    return {
        "registers": int(registers),
        "spills": len(re.findall(r"\b(?:STL|LDL)\b", sass)),
        # From global memory, or past the registers into shared memory.
        "wide_loads": len(re.findall(r"ld\.global\S*\.v4\.b32", ptx))
        + len(re.findall(r"cp\.async\.c[ag]\.shared\.global .*, 0x10, ", ptx)),
        "tensor_core_ops": len(re.findall(r"mma\.sync|wgmma\.mma_async|tcgen05\.mma", ptx)),
    }


def _cuobjdump(what: str, path: str) -> str:
    environment = os.environ | {"PATH": f"{TOOLS}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [str(TOOLS / "cuobjdump"), what, path]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout


def _amd_code(asm: dict[str, Any]) -> dict[str, int]:
    code = asm["amdgcn"]
    (registers,) = re.findall(r"\.vgpr_count:\s+(\d+)", code)
    (spills,) = re.findall(r"\.vgpr_spill_count:\s+(\d+)", code)
    return {
        "registers": int(registers),
        "spills": int(spills),
        "wide_loads": len(re.findall(r"(?:global|buffer)_load_dwordx4", code)),
        "tensor_core_ops": len(re.findall(r"v_mfma", code)),
    }


def start_every_kernel() -> None:
    """Launch each kernel once: 32 query heads on 8 KV heads, head_dim 128, block size 16, bf16."""
    cache = torch.zeros(64, 16, 8, 128, dtype=torch.bfloat16)
    query = torch.zeros(512, 32, 128, dtype=torch.bfloat16)
    tables = torch.zeros(16, 64, dtype=torch.int32)
    lengths = torch.full((16,), 1024, dtype=torch.int32)
    attend = triton_backend.paged_attention
    attend(query[:16], cache, cache, tables, lengths, 1024, 1.0, None, num_splits=4)
    triton_backend.paged_prefill(query, cache, cache, tables[0], 1024, 1.0, None)
    rows = torch.zeros(16, 8, 128, dtype=torch.bfloat16)
    triton_backend.write_slots(rows, rows, cache, cache, torch.arange(16))
    triton_backend.copy_blocks(cache, cache, torch.tensor([[0, 1]]))


def main() -> None:
    """Print a list of what every kernel became for every target, as JSON."""
    rows = [asdict(fact) for name in TARGETS for fact in compile_all(start_every_kernel, name)]
    print(json.dumps(rows))
