"""Make a folder that `load_llama` reads of one GGUF file: config, tokenizer and fp16 weights.

GGUF keeps weights in few bits, in blocks with a scale each. They become fp16 once, here, so that
loading later is a matter of a second; vectors (the norms) stay as they are.

One thing is not as in the folder: GGUF's RoPE turns the channels (0, 1), (2, 3), ... of a head,
the folder's turns channel i with i + head_dim / 2. The rows of the query and key projections lie in
the order of their RoPE, so they have to be put back.

The package `gguf` is imported when a file is converted and not before.
"""

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import save

from .config import CONFIG_FILE, LlamaConfig, config_from
from .gguf_tokenizer import PREFIX, tokenizer_description
from .names import name_of_gguf
from .tokenizer import INSTALL, TOKENIZER_FILE
from .weights import WEIGHTS_FILE

Floats = npt.NDArray[np.float32]


def convert_gguf(path: Path, folder: Path, say: Callable[[str], None] = print) -> None:
    """Write `config.json`, `tokenizer.json` and `model.safetensors` into an existing `folder`.

    Progress goes to `say`. Raises ValueError, naming file, field or tensor, for a file that is no
    GGUF or cut short, for a model that is not supported, for a tensor without a place, and where
    the package `gguf` is not installed. What was written until then stays in the folder.
    """
    gguf = _package()
    say(f"reading {path.name} (some seconds) ...")
    try:
        reader = gguf.GGUFReader(path)
        fields = {name: field.contents() for name, field in reader.fields.items()}
        tensors = {tensor.name: tensor for tensor in reader.tensors}
    except (OSError, ValueError, IndexError, KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"{path} cannot be read as GGUF: {error}") from None
    described = _config(fields, tied="output.weight" not in tensors)
    _write_json(folder / CONFIG_FILE, described)
    _write_json(folder / TOKENIZER_FILE, tokenizer_description(fields))
    say(f"turning {len(tensors)} tensors into fp16 (some seconds) ...")
    config = config_from(described)
    weights: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        shape = tensor.shape[::-1].tolist()  # the file names the last axis first
        numbers = gguf.quants.dequantize(tensor.data, tensor.tensor_type).reshape(shape)
        weights[name_of_gguf(name)] = _as_stored(name, numbers, config)
    metadata = {"format": "pt", "made from": path.name}
    (folder / WEIGHTS_FILE).write_bytes(save(weights, metadata=metadata))


def restore_rope_order(rows: Floats, num_heads: int) -> Floats:
    """Put the rows of a query or key projection back into the order of the folder's RoPE.

    `rows` is [num_heads * head_dim, channels]. Within a head the file has both channels of a pair
    side by side: 2i and 2i + 1 become i and i + head_dim / 2.
    """
    pairs = rows.reshape(num_heads, -1, 2, rows.shape[-1])  # [heads, head_dim / 2, 2, channels]
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(rows.shape)


def _package() -> Any:
    try:
        return import_module("gguf")
    except ImportError as error:
        raise ValueError(f"the package gguf is needed ({error}); {INSTALL}") from error


def _config(fields: Mapping[str, Any], *, tied: bool) -> dict[str, Any]:
    """The fields of a `config.json` for those of a GGUF file."""
    kind = fields.get("general.architecture")
    if kind != "llama":
        raise ValueError(f"general.architecture is {kind!r}; supported is only 'llama'")
    described = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "vocab_size": len(fields.get(f"{PREFIX}tokens", [])),
        "hidden_size": fields.get("llama.embedding_length"),
        "intermediate_size": fields.get("llama.feed_forward_length"),
        "num_hidden_layers": fields.get("llama.block_count"),
        "num_attention_heads": fields.get("llama.attention.head_count"),
        "num_key_value_heads": fields.get("llama.attention.head_count_kv"),
        "head_dim": fields.get("llama.attention.key_length"),
        "max_position_embeddings": fields.get("llama.context_length"),
        "rope_theta": fields.get("llama.rope.freq_base", 10_000.0),
        "rms_norm_eps": _shortest(fields.get("llama.attention.layer_norm_rms_epsilon")),
        "tie_word_embeddings": tied,
        "eos_token_id": fields.get(f"{PREFIX}eos_token_id"),
        "torch_dtype": "float16",
    }
    described = {name: value for name, value in described.items() if value is not None}
    described["head_dim"] = config_from(described).head_dim
    only = {
        "llama.rope.dimension_count": described["head_dim"],
        "llama.attention.value_length": described["head_dim"],
        "llama.rope.scaling.type": "none",
        "llama.expert_count": 0,
        "llama.attention.sliding_window": 0,
    }
    for name, value in only.items():
        if fields.get(name, value) != value:
            raise ValueError(f"{name} is {fields[name]!r}; supported is only {value!r}")
    return described


def _shortest(value: object) -> object:
    """The shortest decimal that is the same float32: 1e-05, not 9.999999747378752e-06."""
    return float(str(np.float32(value))) if isinstance(value, float) else value


def _as_stored(name: str, numbers: Floats, config: LlamaConfig) -> torch.Tensor:
    """Rows in the folder's order, matrices in fp16."""
    if name.endswith(("attn_q.weight", "attn_k.weight")):
        is_query = name.endswith("attn_q.weight")
        num_heads = config.num_heads if is_query else config.num_kv_heads
        if numbers.ndim != 2 or len(numbers) != num_heads * config.head_dim:
            raise ValueError(
                f"{name} has shape {list(numbers.shape)}; {num_heads} heads of "
                f"{config.head_dim} need [{num_heads * config.head_dim}, {config.channels}]"
            )
        numbers = restore_rope_order(numbers, num_heads)
    tensor = torch.from_numpy(np.array(numbers, dtype=np.float32))
    stored = tensor.half() if tensor.dim() > 1 else tensor
    if not stored.isfinite().all():
        raise ValueError(f"{name} has numbers that fp16 cannot hold")
    return stored


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")
