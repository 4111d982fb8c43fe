"""Compile the kernels as a GPU's launchers would, on a machine without one; print facts as JSON.

A script, because Triton is either interpreting or compiling for a whole process. torch is told that
there is CUDA, Triton which GPU it has, and each launch ends after compilation.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

torch.cuda.is_available = lambda: True

import kernels  # noqa: E402
from kernels import attention_kernel, backend, copy_kernel, triton_backend, write_kernel  # noqa: E402

CUOBJDUMP = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
facts = []


class Driver:
    """What a launch asks of a GPU's driver before it starts anything."""

    arch = 90

    def get_current_target(self):
        return GPUTarget("cuda", self.arch, 32)

    def get_current_device(self):
        return self.arch  # compiled kernels are kept per device

    def get_current_stream(self, device):
        return 0


def compile_only(kernel, grid, *arguments, **options):
    compiled = kernel.warmup(*arguments, grid=grid, **options)
    ptx = compiled.asm["ptx"]
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(compiled.asm["cubin"])
        file.flush()
        command = [str(CUOBJDUMP), "-res-usage", file.name]
        usage = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    facts.append(
        {
            "kernel": kernel.__name__,
            "arch": driver.active.arch,
            "programs": list(grid),
            "shared": compiled.metadata.shared,
            "spills": "STACK:0 " not in usage,
            "wide_loads": ptx.count("v4.b32 {") + ptx.count(", 0x10, "),
            "tensor_core_products": ptx.count("mma.sync"),
        }
    )


def attend(dtype, head_dim=128, block_size=16, weights=False):
    rows, num_heads, num_kv_heads = 2, 32, 8
    query = torch.zeros(rows, num_heads, head_dim, dtype=dtype)
    cache = torch.zeros(4, block_size, num_kv_heads, head_dim, dtype=dtype)
    tables, lengths = torch.zeros(rows, 16, dtype=torch.int32), torch.ones(rows, dtype=torch.int32)
    room = torch.zeros(rows, num_heads, 1) if weights else None
    triton_backend.paged_attention(query, cache, cache, tables, lengths, 1, 1.0, room)
    facts[-1] |= {"dtype": str(dtype), "head_dim": head_dim, "weights": weights}


def refusal_of_cpu_tensors():
    """A compiled kernel cannot read them; this is where a user would first notice."""
    cache = torch.zeros(4, 16, 8, 128)
    try:
        kernels.copy_blocks(cache, cache, [(0, 1)])
    except ValueError as error:
        return str(error)


if __name__ == "__main__":
    driver.set_active(Driver())
    for module in (attention_kernel, copy_kernel, write_kernel):
        module.launch = compile_only
    for Driver.arch in (80, 90):
        attend(torch.bfloat16)
    attend(torch.bfloat16, weights=True)
    attend(torch.float16, head_dim=80, block_size=1)
    attend(torch.float32, head_dim=256, weights=True)
    cache = torch.zeros(4, 16, 8, 128, dtype=torch.bfloat16)
    rows = torch.zeros(3, 8, 128, dtype=torch.bfloat16)
    triton_backend.write_slots(rows, rows, cache, cache, torch.arange(3))
    triton_backend.copy_blocks(cache, cache, torch.tensor([[0, 1]]))
    print(
        json.dumps(
            {
                "backend": backend.CHOICE.backend,
                "refused": refusal_of_cpu_tensors(),
                "facts": facts,
            }
        )
    )
