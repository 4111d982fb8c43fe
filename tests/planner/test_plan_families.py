"""``config.json`` of many families: counted as their layers are, or refused by the telling field.

Cut down to what matters, with the values of the named model.
"""

import json
import subprocess
import sys

import pytest

from pagedkv.planner import MODELS, Geometry, Latent, PlanError, read_config
from pagedkv.planner.config_families import DEFAULTS

LAYERS = {"num_hidden_layers": 32, "num_attention_heads": 32, "hidden_size": 4096}
LLAMA = {**LAYERS, "model_type": "llama", "num_key_value_heads": 8}
DEEPSEEK = {
    **{"model_type": "deepseek_v3", "num_hidden_layers": 61, "num_attention_heads": 128},
    **{"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128},
}
MPT = {"model_type": "mpt", "n_layers": 32, "n_heads": 32, "d_model": 4096}
DBRX = {"model_type": "dbrx", "n_layers": 40, "n_heads": 48, "d_model": 6144}
GEMMA_3_4B = {
    "model_type": "gemma3_text",
    **{"num_hidden_layers": 34, "hidden_size": 2560, "sliding_window": 1024},
}


def read(fields: object) -> Geometry:
    return read_config(json.dumps(fields).encode())


def mha(layers: int, heads: int, head_dim: int) -> Geometry:
    return Geometry(layers, heads, head_dim, num_heads=heads)


COUNTED = {
    "Llama": (LLAMA, Geometry(32, 8, 128, num_heads=32)),
    "Llama, Meta's own file": (
        {"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8},
        Geometry(32, 8, 128, num_heads=32),
    ),
    "Llama, with fields that are empty": (
        {**LLAMA, "per_layer_config": {}, "use_cla": False, "attn_layer_indices": None},
        Geometry(32, 8, 128, num_heads=32),
    ),
    "Mistral that leaves the KV heads to its class": (
        {**LAYERS, "model_type": "mistral", "sliding_window": None},
        Geometry(32, 8, 128, num_heads=32),
    ),
    "GPT-2": ({"model_type": "gpt2", "n_layer": 12, "n_head": 12, "n_embd": 768}, mha(12, 12, 64)),
    "OPT": (
        {
            **{"model_type": "opt", "num_hidden_layers": 40, "num_attention_heads": 40},
            **{"hidden_size": 5120, "word_embed_proj_dim": 5120},
        },
        mha(40, 40, 128),
    ),
    "BLOOM": (
        {"model_type": "bloom", "n_layer": 70, "num_attention_heads": 112, "n_embed": 14_336},
        mha(70, 112, 128),
    ),
    "StarCoder": (
        {"model_type": "gpt_bigcode", "n_layer": 40, "n_head": 48, "n_embd": 6144},
        Geometry(40, 1, 128, num_heads=48),
    ),
    "Falcon-7B": (
        {
            **{"model_type": "falcon", "num_hidden_layers": 32, "num_attention_heads": 71},
            **{"hidden_size": 4544, "new_decoder_architecture": False, "multi_query": True},
            "num_kv_heads": 71,
        },
        Geometry(32, 1, 64, num_heads=71),
    ),
    "Falcon-40B": (
        {
            **{"model_type": "falcon", "num_hidden_layers": 60, "num_attention_heads": 128},
            **{"hidden_size": 8192, "new_decoder_architecture": True, "num_kv_heads": 8},
        },
        Geometry(60, 8, 64, num_heads=128),
    ),
    "ChatGLM3": (
        {
            **{"model_type": "chatglm", "num_layers": 28, "num_attention_heads": 32},
            **{"kv_channels": 128, "multi_query_attention": True, "multi_query_group_num": 2},
        },
        Geometry(28, 2, 128, num_heads=32),
    ),
    "ChatGLM without shared heads": (
        {
            **{"model_type": "chatglm", "num_layers": 28, "num_attention_heads": 32},
            **{"kv_channels": 128, "multi_query_attention": False, "multi_query_group_num": 1},
        },
        mha(28, 32, 128),
    ),
    "Step-3": (
        {**LAYERS, "model_type": "step3_text", "num_attention_groups": 1, "head_dim": 256},
        Geometry(32, 1, 256, num_heads=32),
    ),
    "MPT": ({**MPT, "attn_config": {"attn_type": "multihead_attention"}}, mha(32, 32, 128)),
    "MPT, one KV head": (
        {**MPT, "attn_config": {"attn_type": "multiquery_attention", "sliding_window_size": -1}},
        Geometry(32, 1, 128, num_heads=32),
    ),
    "MPT, grouped": (
        {**MPT, "attn_config": {"attn_type": "grouped_query_attention", "kv_n_heads": 8}},
        Geometry(32, 8, 128, num_heads=32),
    ),
    "DBRX": ({**DBRX, "attn_config": {"kv_n_heads": 8}}, Geometry(40, 8, 128, num_heads=48)),
    "Gemma-3-4B, which leaves the heads to its class": (
        {"model_type": "gemma3", "text_config": GEMMA_3_4B},
        Geometry(34, 4, 256, num_heads=8, windowed_layers=29, window=1024),
    ),
    "Gemma-3-12B, which leaves head_dim to its class": (
        {
            **GEMMA_3_4B,
            **{"num_hidden_layers": 48, "num_attention_heads": 16, "num_key_value_heads": 8},
            "hidden_size": 3840,
        },
        Geometry(48, 8, 256, num_heads=16, windowed_layers=40, window=1024),
    ),
    "gpt-oss": (
        {
            **{"model_type": "gpt_oss", "num_hidden_layers": 24, "num_attention_heads": 64},
            "layer_types": ["sliding_attention", "full_attention"] * 12,
        },
        Geometry(24, 8, 64, num_heads=64, windowed_layers=12, window=128),
    ),
    "Qwen3": (
        {**LAYERS, "model_type": "qwen3", "num_key_value_heads": 8, "hidden_size": 2560},
        Geometry(32, 8, 128, num_heads=32),
    ),
    "MiniMax-M2, all of whose layers attend": (
        {**LLAMA, "model_type": "minimax_m2", "attn_type_list": [1] * 32},
        Geometry(32, 8, 128, num_heads=32),
    ),
    "DeepSeek-V3": (
        DEEPSEEK,
        Geometry(61, 128, 192, num_heads=128, v_head_dim=128, latent=Latent(512, 64)),
    ),
    "a latent with windows": (
        {
            **DEEPSEEK,
            **{"layer_types": ["full_attention"] * 30 + ["sliding_attention"] * 31},
            "sliding_window": 512,
        },
        Geometry(61, 128, 192, 128, 128, 31, 512, Latent(512, 64)),
    ),
    "a decoder with bert in its name": (
        {**LLAMA, "model_type": "bert", "is_decoder": True},
        Geometry(32, 8, 128, num_heads=32),
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_what_is_counted(name):
    fields, geometry = COUNTED[name]
    assert read(fields) == geometry


SIGNS = {
    "Kimi-Linear": ({**DEEPSEEK, "linear_attn_config": {"full_attn_layers": [4]}}, "linear_attn"),
    "Kimi-Linear, saved": ({**DEEPSEEK, "layer_types": ["linear_attention"] * 61}, "layer_types"),
    "Bamba": ({**LLAMA, "attn_layer_indices": [9, 18, 27]}, "attn_layer_indices"),
    "Bamba, saved": ({**LLAMA, "mamba_d_state": 256}, "mamba_d_state"),
    "Jamba": ({**LLAMA, "attn_layer_period": 8, "attn_layer_offset": 4}, "attn_layer_period"),
    "Zamba2": ({**LLAMA, "hybrid_layer_ids": [6, 12]}, "hybrid_layer_ids"),
    "Nemotron-H": ({**LLAMA, "hybrid_override_pattern": "M-M*"}, "hybrid_override_pattern"),
    "Granite 4 hybrid": ({**LLAMA, "layers_block_type": ["mamba"] * 32}, "layers_block_type"),
    "Falcon-H1": ({**LLAMA, "mamba_d_ssm": 1024}, "mamba_d_ssm"),
    "Mamba-2": ({**LAYERS, "num_heads": 128, "state_size": 128}, "state_size"),
    "Phi-4-mini-flash": ({**LLAMA, "mb_per_layer": 2}, "mb_per_layer"),
    "YOCO": ({**LLAMA, "yoco_cross_layers": 16}, "yoco_cross_layers"),
    "RecurrentGemma": ({**LLAMA, "block_types": ["recurrent", "attention"]}, "block_types"),
    "RecurrentGemma's window": ({**LLAMA, "attention_window_size": 2048}, "attention_window_size"),
    "Griffin": ({**LLAMA, "lru_width": 2560}, "lru_width"),
    "LFM2": ({**LLAMA, "full_attn_idxs": [2, 5, 8]}, "full_attn_idxs"),
    "LFM2, saved": ({**LLAMA, "conv_L_cache": 3}, "conv_L_cache"),
    "MiniMax-Text-01": ({**LLAMA, "attn_type_list": [0] * 7 + [1]}, "attn_type_list"),
    "Qwen3-Next": ({**LLAMA, "full_attention_interval": 4}, "full_attention_interval"),
    "Qwen3-Next, saved": ({**LLAMA, "linear_num_value_heads": 32}, "linear_num_value_heads"),
    "gated DeltaNet": ({**LLAMA, "use_short_conv": True}, "use_short_conv"),
    "MiniCPM-SALA": ({**LLAMA, "mixer_types": ["lightning"] * 32}, "mixer_types"),
    "Llama-3.2-Vision": ({"text_config": {**LLAMA, "cross_attention_layers": [3]}}, "cross_att"),
    "IDEFICS": ({**LLAMA, "cross_layer_interval": 4}, "cross_layer_interval"),
    "a decoder that looks at an encoder": ({**LLAMA, "add_cross_attention": True}, "add_cross"),
    "Hunyuan-Large": ({**LLAMA, "use_cla": True, "cla_share_factor": 2}, "use_cla"),
    "Gemma 3n": ({**LLAMA, "num_kv_shared_layers": 15}, "num_kv_shared_layers"),
    "PLaMo": ({**LLAMA, "n_shared_head": 8}, "n_shared_head"),
    "Gemma 4": ({**LLAMA, "per_layer_config": {"05": {"head_dim": 512}}}, "per_layer_config"),
    "DeciLM": ({**LLAMA, "num_key_value_heads_per_layer": [4] * 32}, "num_key_value_heads_per"),
    "MiMo-V2": ({**LLAMA, "swa_num_key_value_heads": 8}, "swa_num_key_value_heads"),
    "DeepSeek-V3.2": ({**DEEPSEEK, "index_head_dim": 128}, "index_head_dim"),
    "DeepSeek-V4": ({**DEEPSEEK, "compress_ratios": [4, 128]}, "compress_ratios"),
    "MPT with a window": (
        {**MPT, "attn_config": {"sliding_window_size": 1024}},
        "sliding_window_size",
    ),
    "MPT that is broken": ({**MPT, "attn_config": ["kv_n_heads"]}, "attn_config"),
    "DBRX that is broken": ({**DBRX, "attn_config": {"kv_n_heads": "8"}}, "kv_n_heads"),
    "Longcat-Flash": ({**DEEPSEEK, "model_type": "longcat_flash"}, "model_type"),
    "a long name": ({**LLAMA, "mamba_" + "x" * 500: 1}, "'mamba_xx"),
}


@pytest.mark.parametrize("name", SIGNS)
def test_what_is_not_counted_is_refused_by_the_field_that_tells(name):
    fields, named = SIGNS[name]
    with pytest.raises(PlanError) as refused:
        read(fields)
    assert str(refused.value).startswith(named) and len(str(refused.value)) < 250


@pytest.mark.parametrize(
    "family",
    [
        *("mamba2", "falcon_mamba", "rwkv", "xlstm", "gla", "gated_deltanet", "retnet", "zamba2"),
        *("falcon_h1", "nemotron_h", "kimi_linear", "qwen3_next", "qwen3_5_moe", "lfm2"),
        *("t5", "bart", "whisper", "mllama", "nemotron-nas", "bert", "xlm-roberta", "electra"),
    ],
)
@pytest.mark.parametrize("place", [dict, lambda fields: {"text_config": fields}])
def test_a_family_that_is_not_counted_is_refused_whatever_its_fields_are_called(family, place):
    with pytest.raises(PlanError, match=f"^model_type is '{family}'; "):
        read(place({**LLAMA, "model_type": family}))


@pytest.mark.parametrize(
    "architecture",
    ["Mamba2ForCausalLM", "RwkvModel", "T5ForConditionalGeneration", "Qwen3NextForCausalLM"],
)
def test_an_architecture_that_is_not_counted_is_refused_where_the_family_is_unknown(architecture):
    with pytest.raises(PlanError, match=f"^architectures is '{architecture}'; "):
        read({**LAYERS, "architectures": [architecture]})


@pytest.mark.parametrize(
    "architectures",
    [
        *(["LlamaForCausalLM"], ["GPT2LMHeadModel"], ["OPTForCausalLM"], ["Gemma2ForCausalLM"]),
        *(["DeepseekV3ForCausalLM"], ["GptOssForCausalLM"], ["MiniMaxM2ForCausalLM"], [None], "x"),
        *(["Phi3ForCausalLM"], ["Starcoder2ForCausalLM"], [], None, 7, ["FalconForCausalLM"]),
    ],
)
def test_other_architectures_are_no_reason_to_refuse(architectures):
    assert read({**LLAMA, "architectures": architectures}) == COUNTED["Llama"][1]


@pytest.mark.parametrize("family", DEFAULTS)
def test_a_field_that_is_there_goes_before_what_the_family_has(family):
    said = {**LAYERS, "model_type": family, "num_key_value_heads": 16, "head_dim": 96}
    kept = read({**said, "sliding_window": None, "multi_query": False, "kv_n_heads": 16})
    assert kept == Geometry(32, 16, 96, num_heads=32)
    assert read({**said, "sliding_window": None, "num_kv_heads": 16}).head_dim == 96


def as_file(geometry: Geometry) -> dict[str, object]:
    """What a file would say of it, in the commonest names."""
    fields = {
        "num_hidden_layers": geometry.num_layers,
        "num_attention_heads": geometry.num_heads or geometry.num_kv_heads,
        "num_key_value_heads": geometry.num_kv_heads,
        "head_dim": geometry.head_dim,
    }
    if geometry.windowed_layers:
        kinds = ["full_attention"] * geometry.full_layers
        fields["layer_types"] = kinds + ["sliding_attention"] * geometry.windowed_layers
        fields["sliding_window"] = geometry.window
    if geometry.latent is not None:
        fields |= {"kv_lora_rank": geometry.latent.rank, "v_head_dim": geometry.v_head_dim}
        fields["qk_rope_head_dim"] = geometry.latent.rope_dim
        fields["qk_nope_head_dim"] = geometry.head_dim - geometry.latent.rope_dim
    return fields


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.title)
def test_every_model_of_the_table_comes_back_from_a_file(model):
    read_back = read(as_file(model.geometry))
    for name in ("num_layers", "num_kv_heads", "windowed_layers", "window", "latent"):
        assert getattr(read_back, name) == getattr(model.geometry, name)
    assert read_back.numbers_per_position(1) == model.geometry.numbers_per_position(1)


HOSTILE = {  # each of them once kept the server busy for seconds or for ever
    "kv, then heads, and a last line": {"kv" * 1000 + "heads_" * 1000 + "\n": 1},
    "kv alone": {"kv" * 20_000: 1},
    "many names": {f"{number}{'yoco' * 23}\n": 1 for number in range(9000)},
    "an architecture": {"architectures": ["for" * 12_000 + "!"]},
    "architectures": {"architectures": ["for" * 30 + "!"] * 9000},
    "a family": {"model_type": "bert" * 8000 + "\n"},
}
READS_ALL = """
import json, sys
from pagedkv.planner import PlanError, read_config
for fields in json.load(sys.stdin):
    try:
        read_config(json.dumps(fields).encode())
    except PlanError as error:
        print(error)
"""


def test_no_file_keeps_the_server_busy(project):
    """In a process of its own, which can be ended; the time is far more than it should take."""
    files = json.dumps([{**LLAMA, **hostile} for hostile in HOSTILE.values()])
    command = [sys.executable, "-c", READS_ALL]
    done = subprocess.run(
        command, cwd=project, input=files.encode(), timeout=60, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("name", "is_sign"),
    [
        *(
            (name, True)
            for name in ("swa_kv_heads", "kv_heads_by_layer", "key_value_heads", "kvheads")
        ),
        *((name, False) for name in ("heads_kv", "kv_headset", "num_heads")),
    ],
)
def test_other_names_of_kv_heads(name, is_sign):
    fields = {**LLAMA, name: 4}
    if not is_sign:
        assert read(fields) == read(LLAMA)
        return
    with pytest.raises(PlanError, match=name):
        read(fields)
