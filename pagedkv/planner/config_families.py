"""What a model's family fills in where its `config.json` is silent.

Files are often shortened to what differs from the class that reads them: Gemma-3-12B's does not say
that a head has 256 numbers, and 3,840 channels / 16 heads would be 240. The values are those of
transformers 5.24.0, for families where they are not what would be worked out from other fields.
"""

from collections.abc import Mapping
from typing import Any

KV, HEAD, WINDOW = "num_key_value_heads", "head_dim", "sliding_window"
GEMMA_3 = {"num_attention_heads": 8, KV: 4, HEAD: 256, WINDOW: 4096}

DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "bitnet": {KV: 5},
    "cohere2": {WINDOW: 4096},
    "dbrx": {"kv_n_heads": 1},
    "ernie4_5": {KV: 2, HEAD: 128},
    "ernie4_5_moe": {KV: 4},
    "falcon": {"multi_query": True},
    "gemma": {HEAD: 256},
    "gemma2": {KV: 4, HEAD: 256, WINDOW: 4096},
    "gemma3": GEMMA_3,
    "gemma3_text": GEMMA_3,
    "glm": {KV: 2, HEAD: 128},
    "glm4": {KV: 2, HEAD: 128},
    "glm4_moe": {KV: 8},
    "gpt_bigcode": {"multi_query": True},
    "gpt_oss": {KV: 8, HEAD: 64, WINDOW: 128},
    "helium": {HEAD: 128},
    "internlm3": {KV: 2, HEAD: 128},
    "iquestcoder": {KV: 8, HEAD: 128},
    "jetmoe": {KV: 16},
    "minimax_m2": {KV: 8, HEAD: 128},
    "ministral": {KV: 8, WINDOW: 4096},
    "ministral3": {KV: 8, HEAD: 128},
    "mistral": {KV: 8, WINDOW: 4096},
    "mixtral": {KV: 8},
    "olmo3": {WINDOW: 4096},
    "phi4_multimodal": {KV: 8},
    "phimoe": {KV: 8},
    "qwen2_5_vl_text": {KV: 8},
    "qwen2_vl_text": {KV: 8},
    "qwen3": {HEAD: 128},
    "qwen3_moe": {KV: 4},
    "qwen3_vl_text": {HEAD: 128},
    "seed_oss": {KV: 8, HEAD: 128},
    "smollm3": {KV: 4},
    "solar_open": {KV: 8, HEAD: 128},
    "starcoder2": {KV: 2},
    "vaultgemma": {KV: 4, HEAD: 256, WINDOW: 4096},
}
# Another name for the same number in the file keeps the family's own out.
OTHER_NAMES = {KV: ("num_kv_heads", "n_head_kv", "n_kv_heads", "num_attention_groups")}


def with_defaults(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields, and those that the family has where they are missing; null is not missing."""
    family = fields.get("model_type")
    defaults = DEFAULTS.get(family, {}) if isinstance(family, str) else {}
    missing = {
        name: value
        for name, value in defaults.items()
        if not any(other in fields for other in OTHER_NAMES.get(name, ()))
    }
    return {**missing, **fields}
