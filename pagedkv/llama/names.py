"""What one tensor is called: in the network, in a folder's weights, and in a GGUF file.

A name ends in `.weight` or `.bias`; within a layer it begins with the layer's number.
"""

from typing import NamedTuple


class _Names(NamedTuple):
    network: str
    folder: str
    gguf: str


EMBEDDING, HEAD = "embedding.weight", "head.weight"  # in the network

_OUTSIDE = (
    _Names("embedding", "model.embed_tokens", "token_embd"),
    _Names("norm", "model.norm", "output_norm"),
    _Names("head", "lm_head", "output"),
)
_WITHIN = (
    _Names("attention_norm", "input_layernorm", "attn_norm"),
    _Names("attention.query", "self_attn.q_proj", "attn_q"),
    _Names("attention.key", "self_attn.k_proj", "attn_k"),
    _Names("attention.value", "self_attn.v_proj", "attn_v"),
    _Names("attention.output", "self_attn.o_proj", "attn_output"),
    _Names("mlp_norm", "post_attention_layernorm", "ffn_norm"),
    _Names("mlp.gate", "mlp.gate_proj", "ffn_gate"),
    _Names("mlp.up", "mlp.up_proj", "ffn_up"),
    _Names("mlp.down", "mlp.down_proj", "ffn_down"),
)
_OF_NETWORK = {names.network: names.folder for names in (*_OUTSIDE, *_WITHIN)}
_OUTSIDE_OF_GGUF = {names.gguf: names.folder for names in _OUTSIDE}
_WITHIN_OF_GGUF = {names.gguf: names.folder for names in _WITHIN}


def name_in_folder(name: str) -> str:
    """What a folder's weights call the tensor that the network calls `name`."""
    stem, _, kind = name.rpartition(".")
    if stem in _OF_NETWORK:
        return f"{_OF_NETWORK[stem]}.{kind}"
    _, layer, inner = stem.split(".", 2)
    return f"model.layers.{layer}.{_OF_NETWORK[inner]}.{kind}"


def name_of_gguf(name: str) -> str:
    """What a folder's weights call the tensor that a GGUF file calls `name`.

    Raises ValueError naming a tensor that a folder has no place for: all but weights of a llama.
    """
    stem, _, kind = name.rpartition(".")
    if kind == "weight" and stem in _OUTSIDE_OF_GGUF:
        return f"{_OUTSIDE_OF_GGUF[stem]}.weight"
    block, _, rest = stem.partition(".")
    layer, _, inner = rest.partition(".")
    is_in_layer = block == "blk" and layer.isdecimal() and inner in _WITHIN_OF_GGUF
    if kind == "weight" and is_in_layer:
        return f"model.layers.{layer}.{_WITHIN_OF_GGUF[inner]}.weight"
    raise ValueError(f"the tensor {name} has no place in a llama as it is built here")
