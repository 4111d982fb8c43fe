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
from kernels.compile_facts import (  # noqa: E402
    TARGETS,
    compile_all,
    compile_binaries,
    start_every_kernel,
)


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


def reduce(num_splits, *, head_dim=128, weights=False):
    """The second step of a split decode alone; the first is the same for any number of splits."""
    rows, num_heads, longest = 2, 32, 64
    parts = torch.zeros(num_splits, rows, num_heads, head_dim)
    tables = attention_launch.Tables(
        torch.zeros(rows, 16, dtype=torch.int32), 16, torch.ones(rows, dtype=torch.int32), longest
    )
    room = torch.zeros(rows, num_heads, longest) if weights else None
    attention_launch._reduce(parts, parts[..., :2], tables, torch.bfloat16, room)


def unaligned():
    """A decode step of aligned K, and V in rows of 130 numbers, few of which begin on 16 bytes."""
    cache = torch.zeros(4, 16, 8, 128, dtype=torch.bfloat16)
    v_cache = torch.zeros(4, 16, 8, 130, dtype=torch.bfloat16)[..., :128]
    tables, lengths = torch.zeros(2, 16, dtype=torch.int32), torch.ones(2, dtype=torch.int32)
    query = torch.zeros(2, 32, 128, dtype=torch.bfloat16)
    triton_backend.paged_attention(query, cache, v_cache, tables, lengths, 64, 1.0, None)


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


def products(binary):
    """Which instructions multiply matrices."""
    return sorted(set(re.findall(r"mma\.sync|wgmma\.mma_async|tcgen05\.mma", binary.asm["ptx"])))


def read_widths(ptx, argument):
    """How many bytes each load takes at once from where a pointer argument of the kernel points.

    An address belongs to the argument from which it was computed, through whatever registers. A
    number that was loaded belongs to none: a block id is no part of the block table.
    """
    lines = re.findall(r"^\s*(?:@!?%p\d+\s+)?([a-z][\w.:]*)\s+(.*);$", ptx, re.MULTILINE)
    derived, known = set(), -1
    while known != len(derived):  # until a loop's registers tell nothing new either
        known = len(derived)
        for opcode, operands in lines:
            first, *rest = re.findall(r"%rd\d+|_param_\d+\b", operands) or [""]
            comes_from = derived & set(rest) or f"_param_{argument}" in rest
            if comes_from and not opcode.startswith(("ld.global", "st.", "cp.")):
                derived.add(first)
    return [
        _width(opcode, operands)
        for opcode, operands in lines
        if "ld.global" in opcode or ("cp.async" in opcode and "global" in opcode)
        if derived & set(re.findall(r"\[ *(%rd\d+)", operands))
    ]


def _width(opcode, operands):
    if opcode.startswith("cp.async"):
        return int(re.search(r"\], (0x[0-9a-f]+)", operands)[1], 16)
    vector, bits = re.search(r"(?:\.v(\d))?\.[bfsu](\d+)$", opcode).groups()
    return int(vector or 1) * int(bits) // 8


def kv_widths(start, target):
    """By kernel and cache: the widths at which the attention kernels load K and V, in bytes."""
    return {
        f"{'prefill' if options['QUERIES'] > 1 else 'decode'} {name}": sorted(
            set(read_widths(binary.asm["ptx"], argument))
        )
        for kernel, options, binary in compile_binaries(start, target)
        if kernel == "paged_attention_kernel"
        for name, argument in (("K", 1), ("V", 2))  # places among the kernel's arguments
    }


def products_on_hopper():
    """By kernel: which instructions multiply matrices on sm_90."""
    return {
        "prefill" if options["QUERIES"] > 1 else "decode": products(binary)
        for kernel, options, binary in compile_binaries(start_every_kernel, "sm_90")
        if kernel == "paged_attention_kernel"
    }


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

REDUCED = {
    "66 splits": lambda: reduce(66),  # of 32k positions in 8 KV heads on an H200
    "128 splits": lambda: reduce(128),
    "600 splits": lambda: reduce(600),
    "128 splits, head_dim 256, weights": lambda: reduce(128, head_dim=256, weights=True),
}


def main():
    facts = [
        asdict(fact) | {"case": name}
        for name, start in CASES.items()
        for target in ("sm_80",)
        for fact in compile_all(start, target)
    ]
    many_splits = [
        asdict(fact) | {"case": name}
        for name, start in REDUCED.items()
        for target in TARGETS
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
                "many_splits": many_splits,
                "products": products_on_hopper(),
                "kv_widths": {
                    target: kv_widths(start_every_kernel, target)
                    for target in TARGETS
                    if target.startswith("sm_")
                },
                "unaligned": kv_widths(unaligned, "sm_90"),
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
