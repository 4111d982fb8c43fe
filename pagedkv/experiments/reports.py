"""Public reports of what went wrong in other engines, restated; each fault names one.

``says`` is what is reported, in our words: where a fault here is only of the same kind, comparing
it with ``says`` shows it. Titles and descriptions were read in November 2026.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Report:
    """An issue or pull request to read: its name, its address, and what it says."""

    name: str
    url: str
    says: str


MINIVLLM_76 = Report(
    "Wenyueh/MinivLLM #76",
    "https://github.com/Wenyueh/MinivLLM/issues/76",
    "A token that fills its block counts as 0 tokens in it, so with table [10, 11] and blocks of 4 "
    "the eighth goes to slot 43 and not to 47.",
)
NANO_VLLM_240 = Report(
    "GeeeekExplorer/nano-vllm #240",
    "https://github.com/GeeeekExplorer/nano-vllm/issues/240",
    "A block is said to be taken one token too late. The reply: the length includes the newest "
    "token already, so the code is right. The doubt is about that one token.",
)
VLLM_47305 = Report(
    "vllm-project/vllm PR #47305",
    "https://github.com/vllm-project/vllm/pull/47305",
    "Kernels loaded slots past the sequence length, from the unwritten rest of the last block, and "
    "a mask alone did not keep them out of the output.",
)
VLLM_42273 = Report(
    "vllm-project/vllm #42273",
    "https://github.com/vllm-project/vllm/issues/42273",
    "With sliding windows, tables keep entries of evicted blocks. Once such a block is given away, "
    "the entry leads to another request's K and V, and only the kernel's mask keeps them out.",
)
SPARKINFER_185 = Report(
    "gittensor-ai-lab/sparkinfer PR #185",
    "https://github.com/gittensor-ai-lab/sparkinfer/pull/185",
    "Only the used part of a block table was sent to the GPU. Numbers left in the rest were taken "
    "for physical blocks, so kernels read and wrote blocks of others.",
)
TENSORRT_LLM_14945 = Report(
    "NVIDIA/TensorRT-LLM PR #14945",
    "https://github.com/NVIDIA/TensorRT-LLM/pull/14945",
    "Beams share the full blocks of their context, and each new beam gets a copy of the last block "
    "if it is partly filled: the rule that this fault leaves out.",
)
ONNXIM_34 = Report(
    "PSAL-POSTECH/ONNXim PR #34",
    "https://github.com/PSAL-POSTECH/ONNXim/pull/34",
    "The KV head was computed with the wrong divisor. In some models a part of the KV heads was "
    "never read, without a crash, since all indices stayed in bounds.",
)
