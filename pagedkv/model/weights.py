"""The weights file: fp16 safetensors, with a record of how the weights came about.

Half precision keeps the file near one megabyte; `load_weights` widens to float32, in which all
computing is done. The record travels in the file's own metadata, so it cannot get lost or go stale
apart from the weights.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save

from .config import ModelConfig
from .gpt import CharGPT

_KEY = "pagedkv"  # safetensors metadata maps strings to strings; ours is one JSON text


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """Where a weights file comes from. Losses are in nats per character."""

    config: ModelConfig
    seed: int
    steps: int
    corpus: str  # name of the text
    corpus_sha256: str
    validation_loss: float  # of the weights as stored, after rounding to fp16


def save_weights(path: Path, model: CharGPT, record: TrainingRecord) -> None:
    """Write `model`'s parameters as fp16, and the record."""
    tensors = {name: t.detach().half().contiguous() for name, t in model.state_dict().items()}
    path.write_bytes(save(tensors, metadata={_KEY: json.dumps(asdict(record))}))


def load_record(path: Path) -> TrainingRecord:
    """Return the record of a weights file without reading its tensors."""
    with safe_open(path, framework="pt") as file:
        fields = json.loads(file.metadata()[_KEY])
    return TrainingRecord(**{**fields, "config": ModelConfig(**fields["config"])})


def load_weights(path: Path, device: torch.device | str = "cpu") -> CharGPT:
    """Return the model of a weights file: float32, on `device`, in eval mode, without gradients."""
    model = CharGPT(load_record(path).config)
    model.load_state_dict({name: half.float() for name, half in load_file(path).items()})
    return model.to(device).eval().requires_grad_(False)
