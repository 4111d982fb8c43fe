"""The shape of a llama-architecture model, read from the `config.json` beside its weights.

The file may come from anywhere, and most of what it may ask for is not built here. So whatever
would change the numbers and is not supported is refused by name and value: a model that runs and
is wrong would be worse than none. Field names are those of the file format; what a field is when
it is missing is what the format's own reader assumes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagedkv.checks import is_whole_number, named

from .json_file import read_json
from .rope_scaling import RopeScaling, scaling_from

CONFIG_FILE = "config.json"
LARGEST_CONFIG = 1_000_000  # bytes

# Fields that change the computation, and the only values for which it is the one built here.
_ONLY: Mapping[str, tuple[object, ...]] = {
    "model_type": ("llama",),
    "hidden_act": ("silu",),
    "sliding_window": (None,),
    "quantization_config": (None,),
    "partial_rotary_factor": (1.0,),
}
_ASSUMED = {"hidden_act": "silu", "partial_rotary_factor": 1.0}

# Nobody's model is larger; a file that says so is broken, and building by it would take all memory.
_MOST = {
    "vocab_size": 2_000_000,
    "hidden_size": 65_536,
    "intermediate_size": 1_000_000,
    "num_hidden_layers": 512,
    "num_attention_heads": 1024,
    "num_key_value_heads": 1024,
    "head_dim": 1024,
    "max_position_embeddings": 100_000_000,
}


@dataclass(frozen=True, slots=True)
class LlamaConfig:
    """Sizes of a llama-architecture model. Raises ValueError if they do not fit together.

    `end_ids` are the tokens with which the model says that its answer is over. `tied` models use
    the embedding as the output layer too. `rope_scaling` lowers RoPE's frequencies, if it is given.
    """

    vocab_size: int
    num_layers: int
    channels: int  # width of the residual stream
    num_heads: int  # query heads
    num_kv_heads: int
    head_dim: int
    mlp_channels: int
    context: int  # positions 0 ... context - 1
    rope_base: float
    norm_eps: float
    tied: bool
    end_ids: tuple[int, ...] = ()
    rope_scaling: RopeScaling | None = None
    attention_bias: bool = False  # of the four projections around attention
    mlp_bias: bool = False

    def __post_init__(self) -> None:
        if self.num_heads % self.num_kv_heads:
            raise ValueError(
                f"num_attention_heads {self.num_heads} must be a multiple of "
                f"num_key_value_heads {self.num_kv_heads}"
            )
        if self.head_dim % 2:
            raise ValueError(f"head_dim {self.head_dim} must be even: RoPE turns pairs")
        for end_id in self.end_ids:
            if not 0 <= end_id < self.vocab_size:
                raise ValueError(f"eos_token_id {end_id} is outside 0 to {self.vocab_size - 1}")


def read_config(folder: Path) -> LlamaConfig:
    """Read a folder's `config.json`.

    Raises ValueError, naming file, field and value, for a file that is missing, no JSON object or
    too large, for a field that is missing or of the wrong kind, and for what is not supported.
    """
    path = folder / CONFIG_FILE
    fields = read_json(path, LARGEST_CONFIG)
    try:
        return config_from(fields)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def config_from(fields: Mapping[str, Any]) -> LlamaConfig:
    """The shape that the fields of a `config.json` describe. Raises as `read_config` does."""
    for name, allowed in _ONLY.items():
        value = fields.get(name, _ASSUMED.get(name))
        if value not in allowed:
            raise ValueError(f"{name} is {named(value)}; supported is only {allowed[0]!r}")
    channels, num_heads = _size(fields, "hidden_size"), _size(fields, "num_attention_heads")
    rope_base, rope_scaling = _rope(fields)
    return LlamaConfig(
        vocab_size=_size(fields, "vocab_size"),
        num_layers=_size(fields, "num_hidden_layers"),
        channels=channels,
        num_heads=num_heads,
        num_kv_heads=_size(fields, "num_key_value_heads", num_heads),
        head_dim=_size(fields, "head_dim", channels // num_heads),
        mlp_channels=_size(fields, "intermediate_size"),
        context=_size(fields, "max_position_embeddings", 2048),
        rope_base=rope_base,
        norm_eps=_positive("rms_norm_eps", fields.get("rms_norm_eps", 1e-6)),
        tied=_truth(fields, "tie_word_embeddings"),
        end_ids=_end_ids(fields.get("eos_token_id")),
        rope_scaling=rope_scaling,
        attention_bias=_truth(fields, "attention_bias"),
        mlp_bias=_truth(fields, "mlp_bias"),
    )


def _size(fields: Mapping[str, Any], name: str, otherwise: int | None = None) -> int:
    """A count; a field that is missing or null is `otherwise`, if that is given."""
    value = fields.get(name)
    if value is None:
        value = otherwise
    if value is None:
        raise ValueError(f"{name} is missing")
    if not is_whole_number(value) or not 1 <= value <= _MOST[name]:
        raise ValueError(f"{name} is {named(value)}; it must be a whole number, 1 to {_MOST[name]}")
    return int(value)


def _positive(name: str, value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value < 1e30:  # type: ignore[operator]
        raise ValueError(f"{name} is {named(value)}; it must be a number above 0")
    return float(value)  # type: ignore[arg-type]


def _truth(fields: Mapping[str, Any], name: str) -> bool:
    value = fields.get(name, False)
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {named(value)}; it must be true or false")
    return value


def _rope(fields: Mapping[str, Any]) -> tuple[float, RopeScaling | None]:
    """The base of RoPE and its scaling, from their own fields or, in newer files, from one."""
    base, scaling = fields.get("rope_theta"), None
    for name in ("rope_scaling", "rope_parameters"):
        rope = fields.get(name)
        if rope is None:
            continue
        if not isinstance(rope, dict):
            raise ValueError(f"{name} is {named(rope)}; it must be an object or null")
        if rope.get("partial_rotary_factor", 1.0) != 1.0:
            raise ValueError(f"{name} turns a part of the channels only; supported is all of them")
        found = scaling_from(name, rope)
        if None not in (scaling, found) and scaling != found:
            raise ValueError("rope_scaling and rope_parameters ask for different scalings of RoPE")
        scaling = found or scaling
        base = rope.get("rope_theta", base)
    return _positive("rope_theta", 10_000.0 if base is None else base), scaling


def _end_ids(value: object) -> tuple[int, ...]:
    """`eos_token_id` is one id, a list of them, or null."""
    ids = value if isinstance(value, list) else [] if value is None else [value]
    for end_id in ids:
        if not is_whole_number(end_id):
            raise ValueError(f"eos_token_id is {named(value)}; it must be an id or a list of ids")
    return tuple(ids)
