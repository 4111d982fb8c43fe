"""A llama of three small layers with random weights, as a folder and as a GGUF file.

Beside it an independent network to compare with: float64, no cache, every sum written out from the
definitions, RoPE pair by pair.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import gguf
import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

LAYERS, HEADS, KV_HEADS, DIM, CHANNELS, MLP = 3, 9, 3, 16, 96, 160
HALF = DIM // 2
ROPE_BASE, EPS, CONTEXT = 500.0, 1e-5, 64

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())
MERGES = [("Ġ", "t"), ("h", "e"), ("Ġt", "he"), ("1", "2"), ("Ã", "©"), ("i", "s"), ("Ġ", "is")]
TOKENS = [*SPECIAL, *BYTES, *(left + right for left, right in MERGES)]
VOCAB = len(TOKENS)

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "vocab_size": VOCAB,
    "hidden_size": CHANNELS,
    "intermediate_size": MLP,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": DIM,
    "max_position_embeddings": CONTEXT,
    "rms_norm_eps": EPS,
    "rope_theta": ROPE_BASE,
    "rope_scaling": None,
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": True,
    "eos_token_id": 2,
    "torch_dtype": "float16",
}

Weights = dict[str, torch.Tensor]


def random_weights(seed: int = 5, *, tied: bool = True, biased: Sequence[str] = ()) -> Weights:
    """Weights by the names of a folder, float32 with values that fp16 holds exactly.

    Projections whose names begin with one of ``biased`` have a bias.
    """
    generator = torch.Generator().manual_seed(seed)

    def matrix(rows: int, columns: int) -> torch.Tensor:
        return torch.randn(rows, columns, generator=generator) / columns**0.5

    def norm() -> torch.Tensor:
        return 1 + 0.3 * torch.randn(CHANNELS, generator=generator)

    weights = {
        "model.embed_tokens.weight": matrix(VOCAB, CHANNELS) * 8,
        "model.norm.weight": norm(),
    }
    if not tied:
        weights["lm_head.weight"] = matrix(VOCAB, CHANNELS) * 8
    for i in range(LAYERS):
        own = {
            "input_layernorm": norm(),
            "self_attn.q_proj": matrix(HEADS * DIM, CHANNELS) * 2,
            "self_attn.k_proj": matrix(KV_HEADS * DIM, CHANNELS) * 2,
            "self_attn.v_proj": matrix(KV_HEADS * DIM, CHANNELS),
            "self_attn.o_proj": matrix(CHANNELS, HEADS * DIM),
            "post_attention_layernorm": norm(),
            "mlp.gate_proj": matrix(MLP, CHANNELS),
            "mlp.up_proj": matrix(MLP, CHANNELS),
            "mlp.down_proj": matrix(CHANNELS, MLP),
        }
        weights |= {f"model.layers.{i}.{name}.weight": tensor for name, tensor in own.items()}
        for name, tensor in own.items():
            if name.startswith(tuple(biased)):
                bias = torch.randn(len(tensor), generator=generator)
                weights[f"model.layers.{i}.{name}.bias"] = bias
    return {name: tensor.half().float() for name, tensor in weights.items()}


def tokenizer() -> Tokenizer:
    """The tokenizer of the folder, made with the package's own parts."""
    made = Tokenizer(models.BPE({token: i for i, token in enumerate(TOKENS)}, MERGES))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    return made


def write_folder(
    folder: Path, weights: Weights | None = None, config: Mapping[str, object] = CONFIG
) -> Path:
    """Write a folder as models are published: fp16 weights, config, tokenizer."""
    folder.mkdir(exist_ok=True)
    weights = random_weights() if weights is None else weights
    save_file({n: t.half().contiguous() for n, t in weights.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


BLOCK = 32  # numbers with one scale in the packed types used here

# GGUF, from the format's definition: other names, and for its RoPE another order of rows.

GGUF_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def to_gguf_order(rows: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Channels i and i + HALF of a head become 2i and 2i + 1, row by row."""
    moved = torch.empty_like(rows)
    for head in range(num_heads):
        for i in range(HALF):
            moved[head * DIM + 2 * i] = rows[head * DIM + i]
            moved[head * DIM + 2 * i + 1] = rows[head * DIM + i + HALF]
    return moved


def gguf_weights(weights: Weights) -> Weights:
    """The same weights by the names and in the order of a GGUF file."""
    renamed = {
        "token_embd.weight": weights["model.embed_tokens.weight"],
        "output_norm.weight": weights["model.norm.weight"],
    }
    if "lm_head.weight" in weights:
        renamed["output.weight"] = weights["lm_head.weight"]
    for i in range(LAYERS):
        for name, short in GGUF_NAMES.items():
            renamed[f"blk.{i}.{short}.weight"] = weights[f"model.layers.{i}.{name}.weight"]
        for short, heads in (("attn_q", HEADS), ("attn_k", KV_HEADS)):
            place = f"blk.{i}.{short}.weight"
            renamed[place] = to_gguf_order(renamed[place], heads)
    return renamed


def write_gguf(
    path: Path,
    tensors: Weights | None = None,
    *,
    pre: str = "smollm",
    architecture: str = "llama",
    quantized: gguf.GGMLQuantizationType | None = None,
    begin: bool = False,
    more: Mapping[str, str] = {},
) -> Path:
    """Write the model as one file; ``quantized`` packs the matrices whose rows fit its blocks."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(CHANNELS)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(MLP)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(DIM)
    writer.add_rope_dimension_count(DIM)
    writer.add_rope_freq_base(ROPE_BASE)
    writer.add_layer_norm_rms_eps(EPS)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(TOKENS)
    writer.add_token_types([3] * len(SPECIAL) + [1] * (VOCAB - len(SPECIAL)))
    writer.add_token_merges([f"{left} {right}" for left, right in MERGES])
    writer.add_bos_token_id(1)
    writer.add_add_bos_token(begin)
    writer.add_eos_token_id(2)
    for name, value in more.items():
        writer.add_string(name, value)
    tensors = gguf_weights(random_weights()) if tensors is None else tensors
    for name, tensor in tensors.items():
        numbers = tensor.numpy()
        if tensor.dim() == 1:
            writer.add_tensor(name, numbers)
        elif quantized is None or tensor.shape[1] % BLOCK:
            writer.add_tensor(name, numbers.astype(np.float16))
        else:
            packed = gguf.quants.quantize(numbers, quantized)
            writer.add_tensor(name, packed, raw_dtype=quantized)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


# The independent network.

FREQUENCIES = tuple(ROPE_BASE ** (-2 * i / DIM) for i in range(HALF))  # radians a position


def reference_logits(
    weights: Weights,
    ids: list[int],
    *,
    interleaved: bool = False,
    frequencies: Sequence[float] = FREQUENCIES,
) -> torch.Tensor:
    """Logits [n, VOCAB] float64 after each token, by the definitions.

    ``weights`` have a folder's names. ``interleaved`` turns pairs (2i, 2i + 1), as GGUF's RoPE.
    """
    w = {name: tensor.double() for name, tensor in weights.items()}
    x = w["model.embed_tokens.weight"][ids]  # [n, CHANNELS]
    for i in range(LAYERS):
        own = {
            name.removeprefix(f"model.layers.{i}."): tensor
            for name, tensor in w.items()
            if name.startswith(f"model.layers.{i}.")
        }
        h = rms_norm(x, own["input_layernorm.weight"])
        x = x + attention(own, h, interleaved, frequencies)
        h = rms_norm(x, own["post_attention_layernorm.weight"])
        gate = projected(own, "mlp.gate_proj", h)
        x = x + projected(
            own, "mlp.down_proj", gate / (1 + (-gate).exp()) * projected(own, "mlp.up_proj", h)
        )
    out = w.get("lm_head.weight", w["model.embed_tokens.weight"])
    return rms_norm(x, w["model.norm.weight"]) @ out.T


def projected(own: Weights, name: str, h: torch.Tensor) -> torch.Tensor:
    """h W^T, plus a bias where there is one."""
    return h @ own[f"{name}.weight"].T + own.get(f"{name}.bias", torch.zeros(()))


def rms_norm(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
    """x / sqrt(mean of squares + eps), times the gain."""
    return x / ((x * x).mean(-1, keepdim=True) + EPS).sqrt() * gain


def attention(
    own: Weights, h: torch.Tensor, interleaved: bool, frequencies: Sequence[float]
) -> torch.Tensor:
    """Causal grouped-query attention, one query head and one position at a time."""
    n = len(h)
    query = projected(own, "self_attn.q_proj", h).view(n, HEADS, DIM)
    key = projected(own, "self_attn.k_proj", h).view(n, KV_HEADS, DIM)
    value = projected(own, "self_attn.v_proj", h).view(n, KV_HEADS, DIM)
    for p in range(n):
        angles = [p * frequency for frequency in frequencies]
        query[p], key[p] = (turned(x[p], angles, interleaved) for x in (query, key))
    mixed = torch.zeros(n, HEADS, DIM, dtype=torch.float64)
    for head in range(HEADS):
        shared = head // (HEADS // KV_HEADS)
        for p in range(n):
            scores = key[: p + 1, shared] @ query[p, head] / DIM**0.5  # [p + 1]
            mixed[p, head] = scores.softmax(0) @ value[: p + 1, shared]
    return projected(own, "self_attn.o_proj", mixed.view(n, HEADS * DIM))


def turned(x: torch.Tensor, angles: Sequence[float], interleaved: bool) -> torch.Tensor:
    """Turn the i-th pair of channels of x [heads, DIM] by the i-th angle, in radians."""
    out = x.clone()
    for i in range(HALF):
        one, other = (2 * i, 2 * i + 1) if interleaved else (i, i + HALF)
        angle = torch.tensor(angles[i], dtype=torch.float64)
        out[:, one] = x[:, one] * angle.cos() - x[:, other] * angle.sin()
        out[:, other] = x[:, one] * angle.sin() + x[:, other] * angle.cos()
    return out


def some_ids(length: int, seed: int = 0) -> list[int]:
    """Random tokens."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(VOCAB, (length,), generator=generator).tolist()
