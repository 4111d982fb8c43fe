"""Public reports of what went wrong elsewhere, restated; each fault names one.

``says`` is what is reported, in our words. A report of the same kind is no evidence for the very
fault that we make: ``relation`` tells which it is, and the page says so. Titles and descriptions
were read in November 2026.
"""

from dataclasses import dataclass
from typing import Literal

Relation = Literal["of this fault", "of the same kind"]


@dataclass(frozen=True, slots=True)
class Report:
    """An issue or pull request: its name, its address, how near it is, and what it says."""

    name: str
    url: str
    relation: Relation
    says: str


MINIVLLM_76 = Report(
    "Wenyueh/MinivLLM #76",
    "https://github.com/Wenyueh/MinivLLM/issues/76",
    "of this fault",
    "A token that fills its block counts as 0 tokens in it, so with table [10, 11] and blocks of 4 "
    "the eighth goes to slot 43 and not to 47.",
)
CS249R_BOOK_1953 = Report(
    "harvard-edge/cs249r_book PR #1953",
    "https://github.com/harvard-edge/cs249r_book/pull/1953",
    "of this fault",
    "A step wrote the new token's K and V, then read the cache at its old length, so no token "
    "attended to itself; on an empty cache the step crashed.",
)
VLLM_47305 = Report(
    "vllm-project/vllm PR #47305",
    "https://github.com/vllm-project/vllm/pull/47305",
    "of the same kind",
    "Kernels loaded slots past the sequence length, from the unwritten rest of the last block, and "
    "a mask alone did not keep them out of the output.",
)
SPARKINFER_146 = Report(
    "gittensor-ai-lab/sparkinfer PR #146",
    "https://github.com/gittensor-ai-lab/sparkinfer/pull/146",
    "of this fault",
    "A freed row of the table kept its block ids. A shorter request in it renewed only its own "
    "few, so one that grew past them read and wrote blocks of the session before.",
)
DINGOCACHE_234 = Report(
    "dingodb/DingoCache PR #234",
    "https://github.com/dingodb/DingoCache/pull/234",
    "of the same kind",
    "Code that moves a request's blocks took the first id from its table and counted on from "
    "there: 5, 6 instead of 5, 11. On a fresh engine, where blocks come in order, it had passed.",
)
XLLM_1984 = Report(
    "xLLM-AI/xllm PR #1984",
    "https://github.com/xLLM-AI/xllm/pull/1984",
    "of the same kind",
    "On one device, beams that diverged got new blocks and nothing was copied into them, so each "
    "read old or never written bytes.",
)
JAX_JS_180 = Report(
    "ekzhang/jax-js PR #180",
    "https://github.com/ekzhang/jax-js/pull/180",
    "of this fault",
    "KV heads were tiled over the query heads where they are to be repeated: two for four came as "
    "0, 1, 0, 1 and not as 0, 0, 1, 1.",
)
