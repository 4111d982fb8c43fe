"""The small language model that fills the KV cache.

`load_model()` is the door; `tokenizer` and `prompts` are what goes in. Read `gpt.py` to see the
network, and `train.py` to see where its weights come from.
"""

from pathlib import Path

import torch

from .config import ModelConfig
from .gpt import CharGPT
from .weights import load_weights

__all__ = ["WEIGHTS_PATH", "CharGPT", "ModelConfig", "load_model"]

WEIGHTS_PATH = Path(__file__).parent / "weights.safetensors"


def load_model(device: torch.device | str = "cpu") -> CharGPT:
    """Return the trained model on `device`: float32, in eval mode, without gradients."""
    return load_weights(WEIGHTS_PATH, device)
