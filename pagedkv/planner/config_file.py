"""A geometry from a model's `config.json`, in Hugging Face's form: read as data, never obeyed.

Field names are those of the format. What would change the KV cache in a way that is not counted
here is refused by name: a plan that is wrong would be worse than none.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pagedkv.planner.checking import PlanError, require_whole, shown
from pagedkv.planner.config_families import with_defaults
from pagedkv.planner.config_signs import KV_HEADS, refuse_uncounted
from pagedkv.planner.config_windows import windowed_layers
from pagedkv.planner.geometry import CHANNEL_COUNTS, HEAD_COUNTS, LAYER_COUNTS, Geometry, Latent

LARGEST_CONFIG = 1_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Field:
    """A number with its names in the families; of ``names`` the first that is there is taken."""

    names: tuple[str, ...]
    allowed: range


LAYERS = Field(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), LAYER_COUNTS)
HEADS = Field(("num_attention_heads", "n_head", "n_heads", "num_heads"), HEAD_COUNTS)
HIDDEN = Field(("hidden_size", "n_embd", "n_embed", "d_model", "dim"), range(1, 1_000_001))
HEAD_DIM = Field(("head_dim", "d_kv", "kv_channels"), CHANNEL_COUNTS)
UNROTATED_DIM = Field(("qk_nope_head_dim",), CHANNEL_COUNTS)
ROPE_DIM = Field(("qk_rope_head_dim",), CHANNEL_COUNTS)
VALUE_DIM = Field(("v_head_dim",), CHANNEL_COUNTS)
RANK = Field(("kv_lora_rank",), CHANNEL_COUNTS)


def read_config(data: bytes) -> Geometry:
    """The geometry that the bytes of a `config.json` describe; nothing else of it is used.

    A model with a part for text and parts for images is taken by its part for text. Raises
    ``PlanError``, naming field and value, for a file that is too large, no JSON object, that lacks
    a field or has one that cannot be, and for whatever is not counted here.
    """
    fields = _fields(data)
    inner = fields.get("text_config")
    if isinstance(inner, dict):
        fields = {**fields, **inner}
    fields = with_defaults({**fields, **_nested_heads(fields)})
    refuse_uncounted(fields)
    try:
        latent = _latent(fields)
        return _of_latent(fields, latent) if latent is not None else _of_heads(fields)
    except PlanError as error:
        raise PlanError(error.named(_names_in(fields))) from None


def _fields(data: bytes) -> dict[str, Any]:
    if len(data) > LARGEST_CONFIG:
        raise PlanError(f"the file has {len(data):,} bytes; at most {LARGEST_CONFIG:,} are read")
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except RecursionError:
        raise PlanError("the file is nested too deeply to be a config.json") from None
    except ValueError:  # no UTF-8, no JSON, or a number of thousands of digits
        raise PlanError("the file is no JSON; it must be a model's config.json") from None
    if not isinstance(value, dict):
        raise PlanError("the file is JSON but no object; it must be a model's config.json")
    return value


def _nested_heads(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What MPT and DBRX say of their KV heads, in a part of the file that is of attention."""
    attention = fields.get("attn_config")
    if attention is None:
        return {}
    if not isinstance(attention, dict):
        raise PlanError(f"attn_config is {shown(attention)}; it must be an object")
    names = ("kv_n_heads", "sliding_window_size")
    found = {name: attention[name] for name in names if name in attention}
    is_single = attention.get("attn_type") == "multiquery_attention"
    return {**found, "kv_n_heads": 1} if is_single else found


def _of_heads(fields: Mapping[str, Any]) -> Geometry:
    layers, heads = _required(fields, LAYERS), _required(fields, HEADS)
    kv_heads = _kv_heads(fields, heads)
    windowed, window = windowed_layers(fields, layers)
    return Geometry(
        num_layers=layers,
        num_kv_heads=kv_heads,
        head_dim=_head_dim(fields, heads),
        num_heads=heads,
        v_head_dim=_optional(fields, VALUE_DIM),
        windowed_layers=windowed,
        window=window,
    )


def _of_latent(fields: Mapping[str, Any], latent: Latent) -> Geometry:
    layers, heads = _required(fields, LAYERS), _required(fields, HEADS)
    windowed, window = windowed_layers(fields, layers)
    unrotated = _optional(fields, UNROTATED_DIM)
    values = _optional(fields, VALUE_DIM)
    if unrotated is None or values is None:  # what the latent stands for is not said
        return Geometry(
            layers, 1, latent.size, windowed_layers=windowed, window=window, latent=latent
        )
    return Geometry(
        num_layers=layers,
        num_kv_heads=heads,
        head_dim=unrotated + latent.rope_dim,
        num_heads=heads,
        v_head_dim=values,
        windowed_layers=windowed,
        window=window,
        latent=latent,
    )


def _latent(fields: Mapping[str, Any]) -> Latent | None:
    rank = _optional(fields, RANK)
    if rank is None:
        return None
    return Latent(rank, _required(fields, ROPE_DIM))


def _kv_heads(fields: Mapping[str, Any], heads: int) -> int:
    """KV heads: one for old MQA models, which only say so; if none are said, one a query head."""
    if fields.get("multi_query") is True and fields.get("new_decoder_architecture") is not True:
        return 1
    names = KV_HEADS
    if fields.get("multi_query_attention") is False:  # the number of groups then counts for nothing
        names = tuple(name for name in names if name != "multi_query_group_num")
    said = _optional(fields, Field(names, HEAD_COUNTS))
    if said is None:
        return 1 if fields.get("multi_query_attention") is True else heads
    return said


def _head_dim(fields: Mapping[str, Any], heads: int) -> int:
    said = _optional(fields, HEAD_DIM)
    if said is not None:
        return said
    channels = _required(fields, HIDDEN)
    if channels % heads:
        raise PlanError(
            f"{_name_of(fields, HIDDEN)} is {channels}, which {heads} heads do not share evenly; "
            "head_dim is missing"
        )
    return channels // heads


def _name_of(fields: Mapping[str, Any], field: Field) -> str:
    """The name of the number in this file; its first where the file lacks it."""
    return next((name for name in field.names if fields.get(name) is not None), field.names[0])


def _names_in(fields: Mapping[str, Any]) -> dict[str, str]:
    """What the file calls the values of a geometry."""
    said = {
        "layers": LAYERS,
        "num_heads": HEADS,
        "kv_heads": Field(KV_HEADS, HEAD_COUNTS),
        "head_dim": HEAD_DIM,
        "mla_rank": RANK,
        "rope_dim": ROPE_DIM,
    }
    names = {name: _name_of(fields, field) for name, field in said.items()}
    return {**names, "window": "sliding_window"}


def _optional(fields: Mapping[str, Any], field: Field) -> int | None:
    """The number, or None if it is missing or null."""
    name = _name_of(fields, field)
    value = fields.get(name)
    if value is None:
        return None
    require_whole(name, value, field.allowed)
    return int(value)


def _required(fields: Mapping[str, Any], field: Field) -> int:
    value = _optional(fields, field)
    if value is None:
        raise PlanError(f"{field.names[0]} is missing; without it the KV cache cannot be counted")
    return value
