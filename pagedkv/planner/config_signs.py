"""Signs in a `config.json` of what is not counted here; each is refused by name.

Counted are layers that keep one K and one V (or one latent) of their own for every position, all of
one size. Anything else would be miscounted in silence, so a file is refused for a field that speaks
of it, and for a family that is known for it, whatever its fields are called.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pagedkv.planner.checking import LONGEST_SHOWN, PlanError, shown

KV_HEADS: tuple[str, ...] = (  # the names under which the number of KV heads is read
    "kv_n_heads",
    "num_key_value_heads",
    "num_kv_heads",
    "n_head_kv",
    "n_kv_heads",
    "num_attention_groups",
    "num_query_groups",
    "multi_query_group_num",
)

# Names of fields as regular expressions, by what they speak of.
NAMES = (
    # A state of one size for the whole request: state spaces, linear attention, convolutions.
    r"(n_|use_)?mamba_.*|ssm_.*|state_size|time_step_rank|lru_width|conv1d_width|conv_L_cache",
    r"linear_(attn|conv|head|key|num|value)_.*|kda_.*|(use_)?short_conv.*|expand_(k|v|ratio)",
    # Layers that are not all alike.
    r"layers_block_type|block_types|block_configs|block_overrides|per_layer_config|mixer_types",
    r"attn_type_list|attn_layer_.*|attn_layers|full_attn_idxs|full_attention_interval|hybrid_.*",
    r"layer_group_size|mb_per_layer|swa_.*(heads|dim)|global_head_dim",
    # K and V of another layer, of another part of the model, or of fewer positions.
    r"num_kv_shared_layers|use_cla|kv_reuse_group|n_shared_head|.*yoco.*",
    r"is_encoder_decoder|add_cross_attention|cross_attention_layers|cross_layer_interval",
    r"attention_chunk_size|attention_window_size|sliding_window_size",
    r"compress_ra(tio|te)s|index_head_dim",
)
SIGN = re.compile("|".join(NAMES))
MOST_MATCHED = 100  # characters of a name that meet a pattern; no real name is as long
ALL_ATTEND = ("attn_type_list", "layers_block_type")  # harmless if every layer attends
ATTENDS = (1, "attention", "full_attention")

# Families by `model_type`, without hyphens, underscores and dots.
WITH_STATES = """
    bailinghybrid bamba deltanet evo falconh1 falconmamba gateddeltanet gateddeltaproduct gla
    granitemoehybrid griffin gsa hgrn hgrn2 hgrnbit hymba jamba kda kimilinear lfm2 lfm2moe lightnet
    linearattn mamba mamba2 mesanet minimax minimaxm1 minimaxtext01 nemotronh olmohybrid phi4flash
    plamo2 qwen35 qwen35moe qwen3next recurrentgemma retnet rodimus rwkv rwkv5 rwkv6 rwkv7 samba
    stripedhyena xlstm zamba zamba2
"""
WITH_CROSS_ATTENTION = """
    bart bigbirdpegasus blenderbot blenderbotsmall encoderdecoder florence2 fsmt idefics led longt5
    m2m100 marian mbart mllama mllamatextmodel mt5 musicgen musicgendecoder mvp nllbmoe pegasus
    pegasusx plbart prophetnet seamlessm4t seamlessm4tv2 speechencoderdecoder switchtransformers t5
    t5gemma t5gemma2 umt5 visionencoderdecoder whisper
"""
WITH_UNLIKE_LAYERS = """
    decilm gemma3n gemma4 gemma4text longcatflash longcatflashngram nemotronnas openelm
"""
FAMILIES = frozenset((WITH_STATES + WITH_CROSS_ATTENTION + WITH_UNLIKE_LAYERS).split())
ARCHITECTURE = re.compile(r"(for[a-z0-9]+|lmheadmodel|model)$")  # what follows the family's name


def refuse_uncounted(fields: Mapping[str, Any]) -> None:
    """Raise ``PlanError`` that names the first sign, if there is any."""
    for name, value in _signs(fields):
        raise PlanError(
            f"{_plain(name)} is {shown(value)}; layers that keep something else than "
            "one K and V of their own for each position are not counted here"
        )


def _plain(name: str) -> str:
    """The name of a field, which a file may have made long or put on several lines."""
    return name if name.isidentifier() and len(name) <= LONGEST_SHOWN else shown(name)


def _signs(fields: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield from ((name, value) for name, value in fields.items() if _is_sign(name, value))
    family = fields.get("model_type")
    if isinstance(family, str) and _is_uncounted(family, fields):
        yield "model_type", family
    named = fields.get("architectures")
    for architecture in named if isinstance(named, list) else []:
        if isinstance(architecture, str) and _is_uncounted(_family_of(architecture), fields):
            yield "architectures", architecture


def _family_of(architecture: str) -> str:
    name = architecture.lower()
    return ARCHITECTURE.sub("", name) if len(name) <= MOST_MATCHED else name


def _is_sign(name: str, value: object) -> bool:
    """Whether a field speaks of what is not counted; what is empty, 0, false or -1 does not."""
    if not value or value == -1:
        return False
    if name in ALL_ATTEND and isinstance(value, list):
        return not all(kind in ATTENDS for kind in value)
    other_heads = name not in KV_HEADS and _counts_kv_heads(name)
    return other_heads or SIGN.fullmatch(name[:MOST_MATCHED]) is not None


def _counts_kv_heads(name: str) -> bool:
    """Whether the name has kv or key_value in it, and further on the word heads."""
    after = max((name.partition(word)[2] for word in ("kv", "key_value")), key=len)
    return after.endswith("heads") or "heads_" in after


def _is_uncounted(family: str, fields: Mapping[str, Any]) -> bool:
    plain = re.sub(r"[-_.]", "", family.lower())
    # An encoder reads the text once, and keeps nothing.
    is_encoder = plain == "electra" or ("bert" in plain and "decoder" not in plain)
    return plain in FAMILIES or (is_encoder and fields.get("is_decoder") is not True)
