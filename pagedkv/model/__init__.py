"""The small language model that fills the KV cache.

`load_model()` is the door; `tokenizer` and `prompts` are what goes in. Read `gpt.py` to see the
network, and `train.py` to see where its weights come from.
"""

from pathlib import Path

import torch

from .config import ModelConfig
from .gpt import CharGPT
from .weights import count_parameters, load_record, load_weights

__all__ = ["MODEL_NAME", "WEIGHTS_PATH", "CharGPT", "ModelConfig", "load_model"]

WEIGHTS_PATH = Path(__file__).parent / "weights.safetensors"


def load_model(device: torch.device | str = "cpu") -> CharGPT:
    """Return the trained model on `device`: float32, in eval mode, without gradients."""
    return load_weights(WEIGHTS_PATH, device)


def _name() -> str:
    # From the file's header: building the network to count it would import half of torch.
    config, millions = load_record(WEIGHTS_PATH).config, count_parameters(WEIGHTS_PATH) / 1e6
    return f"chargpt {config.num_layers}x{config.channels}, {millions:.1f}M parameters"


MODEL_NAME = _name()
