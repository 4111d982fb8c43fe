"""Compile what the launchers start on a GPU in unusual cases; print what came of it as JSON.

A script, because Triton is either interpreting or compiling for a whole process.
"""

import importlib.util
import inspect
import json
import re
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from unittest.mock import patch

import torch

torch.cuda.is_available = lambda: True

import kernels  # noqa: E402
from kernels import attention_kernel, attention_launch, backend, triton_backend  # noqa: E402
from kernels.compile_facts import compile_all, compile_binaries  # noqa: E402


def record(dtype):
    """A decode step that stores its intermediate values."""
    query, cache = torch.zeros(2, 32, 128, dtype=dtype), torch.zeros(4, 16, 8, 128, dtype=dtype)
    tables, lengths = torch.zeros(2, 16, dtype=torch.int32), torch.ones(2, dtype=torch.int32)
    places = [torch.zeros(2, 32, 64, 128) for _ in range(6)]
    places[:2] = [torch.zeros(2, 8, 64, dtype=torch.int64) for _ in range(2)]
    attention_launch.record_attention(
        query, cache, cache, tables, lengths, 64, 1.0, 16, tuple(places)
    )


def attend(dtype, *, head_dim=128, block_size=16, weights=False, splits=1, far_apart=False):
    """A decode step of two rows; ``far_apart`` lays offsets of a block 2 GiB from each other."""
    rows, num_heads, num_kv_heads = 2, 32, 8
    query = torch.zeros(rows, num_heads, head_dim, dtype=dtype)
    cache = torch.zeros(4, block_size, num_kv_heads, head_dim, dtype=dtype)
    if far_apart:
        strides = (num_kv_heads * head_dim, 2**30, head_dim, 1)
        cache = cache.as_strided((1, 1, num_kv_heads, head_dim), strides)
        cache = FarApart(cache, (4, block_size, num_kv_heads, head_dim), strides)
    tables, lengths = torch.zeros(rows, 16, dtype=torch.int32), torch.ones(rows, dtype=torch.int32)
    room = torch.zeros(rows, num_heads, 64) if weights else None
    triton_backend.paged_attention(
        query, cache, cache, tables, lengths, 64, 1.0, room, num_splits=splits
    )


class FarApart:
    """A tensor whose storage would not fit any machine: shape and strides, and no data behind."""

    def __init__(self, tensor, shape, strides):
        self.tensor, self.shape, self.strides = tensor, torch.Size(shape), strides
        self.dtype, self.device = tensor.dtype, tensor.device

    def stride(self):
        return self.strides

    def data_ptr(self):
        return self.tensor.data_ptr()

    def untyped_storage(self):
        return self.tensor.untyped_storage()


ADDED = ("if WEIGHTS", "if RECORD")  # what a plain attention has no use for


def without_weights():
    """The attention kernel from a source in which nothing about weights or recording is left."""
    lines = Path(inspect.getsourcefile(attention_kernel)).read_text().splitlines()
    kept, skipped_indent = [], None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if skipped_indent is not None and (not line.strip() or indent > skipped_indent):
            continue
        skipped_indent = indent if line.lstrip().startswith(ADDED) else None
        if skipped_indent is None:
            kept.append(line)
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write("\n".join(kept))
    spec = importlib.util.spec_from_file_location("without_weights", file.name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(kept) < len(lines) - 8
    return module.paged_attention_kernel


def opcodes(binary):
    """The instructions of the PTX in their order, without operands."""
    lines = (line.strip() for line in binary.asm["ptx"].splitlines())
    return [
        re.split(r"\s", re.sub(r"^@!?%p\d+\s+", "", line))[0]
        for line in lines
        if line[:1].isalpha() or line[:1] == "@"
    ]


def plain(target):
    ((_, _, binary),) = compile_binaries(lambda: attend(torch.bfloat16), target)
    (facts,) = compile_all(lambda: attend(torch.bfloat16), target)
    return {"opcodes": opcodes(binary), "registers": facts.registers}


def refusal_of_cpu_tensors():
    """A compiled kernel cannot read them; this is where a user would first notice."""
    cache = torch.zeros(4, 16, 8, 128)
    try:
        kernels.copy_blocks(cache, cache, [(0, 1)])
    except ValueError as error:
        return str(error)


CASES = {
    "weights": lambda: attend(torch.bfloat16, weights=True),
    "weights of splits": lambda: attend(torch.bfloat16, weights=True, splits=4),
    "every step recorded": lambda: record(torch.bfloat16),
    "fp16, head_dim 80, block size 1": lambda: attend(torch.float16, head_dim=80, block_size=1),
    "fp32, head_dim 256, weights": lambda: attend(torch.float32, head_dim=256, weights=True),
}


def main():
    facts = [
        asdict(fact) | {"case": name}
        for name, start in CASES.items()
        for target in ("sm_80",)
        for fact in compile_all(start, target)
    ]
    with_flag = plain("sm_90")
    with patch.object(attention_launch, "paged_attention_kernel", without_weights()):
        without = plain("sm_90")
    far = lambda: attend(torch.bfloat16, far_apart=True)  # noqa: E731
    ((_, options, binary),) = compile_binaries(far, "sm_90")
    print(
        json.dumps(
            {
                "backend": backend.CHOICE.backend,
                "refused": refusal_of_cpu_tensors(),
                "facts": facts,
                "plain": with_flag,
                "without_weights": without,
                "far_apart": {
                    "index": str(options["INDEX"]),
                    "narrow_products": re.findall(
                        r"arith\.muli .*1073741824.*i32>", binary.asm["ttir"]
                    ),
                },
            }
        )
    )


if __name__ == "__main__":
    sys.exit(main())
