"""How fast a real LLM answers through the paged cache, if `make smollm` has fetched one.

Greedy, one request, blocks of 16. `python -m tests.bench.smollm` prints one answer alone, as JSON:
that is how the torch backend is measured, for a process chooses its backend once.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import torch

import kernels
from pagedkv.engine import Engine
from pagedkv.llama import Llama, find_llama, load_llama
from tests.bench.measured import Measured

PROJECT = Path(__file__).resolve().parents[2]
PROMPT, ANSWER = "The capital of France is", " Paris"
TOKENS = 24
LEAST = 2.0  # tokens a second


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of ``TOKENS`` tokens: its text, and the seconds of prefill and of all decoding."""

    model: str
    text: str
    prefill: float
    decoding: float
    layers: dict[str, tuple[int, ...]]  # by the backend that does them


def measure_smollm() -> Iterator[Measured]:
    """A line for each backend; without weights one that says so, and is not reached."""
    found = find_llama()
    if found.missing is not None:
        missing = f"not measured: {found.missing}"
        yield Measured("one answer of a real LLM", f"≥ {LEAST:.0f} tokens/s", missing, False)
        return
    yield as_line(answer(load_llama(device=kernels.runtime()["device"])))
    if kernels.runtime()["backend"] != "torch":
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.smollm"],
            cwd=PROJECT,
            env=os.environ | {"PAGEDKV_BACKEND": "torch"},
            capture_output=True,
            text=True,
            check=True,
        )
        yield as_line(Answered(**json.loads(done.stdout)))


def answer(model: Llama) -> Answered:
    """Decode greedily with the last layer watched: recorded, and checked by the dense reference."""
    engine = Engine(
        model, block_size=16, num_blocks=8, watched_layers=[model.config.num_layers - 1]
    )
    engine.admit("B", PROMPT)
    before = perf_counter()
    engine.execute("B")
    prefilled = perf_counter()
    for _ in range(TOKENS):
        engine.select("B")
        engine.append("B")
        engine.execute("B")
    decoded = perf_counter()
    text = engine.text("B").removeprefix(PROMPT)
    layers = engine.layer_work.by_backend
    return Answered(model.name, text, prefilled - before, decoded - prefilled, layers)


def as_line(answered: Answered) -> Measured:
    """The line of one answer; a fast model that says something else has not reached it."""
    rate = TOKENS / answered.decoding
    shares = ", ".join(f"layers by {name}: {len(own)}" for name, own in answered.layers.items())
    said = "" if answered.text.startswith(ANSWER) else f", but it says {answered.text!r}"
    return Measured(
        f"one answer of {answered.model}, one layer watched ({shares})",
        f"≥ {LEAST:.0f} tokens/s",
        f"{rate:.1f} tokens/s, prefill {answered.prefill * 1000:.0f} ms{said}",
        rate >= LEAST and not said,
    )


if __name__ == "__main__":
    torch.set_num_threads(1)  # as in the server
    print(json.dumps(asdict(answer(load_llama(device=kernels.runtime()["device"])))))
