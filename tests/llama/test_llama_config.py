"""`config.json`: what is read, what is assumed, and what is refused by name and value."""

import json

import pytest
from tiny_llama import CONFIG

from pagedkv.llama.config import LlamaConfig, config_from, read_config


def changed(**fields: object) -> dict[str, object]:
    """The tiny model's config with other values; None removes a field."""
    return {name: value for name, value in (CONFIG | fields).items() if value is not None}


def test_the_fields_are_read():
    assert config_from(CONFIG) == LlamaConfig(
        vocab_size=266,
        num_layers=3,
        channels=96,
        num_heads=9,
        num_kv_heads=3,
        head_dim=16,
        mlp_channels=160,
        context=64,
        rope_base=500.0,
        norm_eps=1e-5,
        tied=True,
        end_ids=(2,),
    )


def test_what_is_missing_is_what_the_format_assumes():
    names = (
        "num_key_value_heads",
        "head_dim",
        "max_position_embeddings",
        "rope_theta",
        "rms_norm_eps",
        "tie_word_embeddings",
        "eos_token_id",
        "hidden_act",
        "attention_bias",
        "mlp_bias",
    )
    config = config_from(changed(hidden_size=90, **dict.fromkeys(names)))
    assert (config.num_kv_heads, config.head_dim, config.context) == (9, 10, 2048)
    assert (config.rope_base, config.norm_eps, config.tied) == (10_000.0, 1e-6, False)
    assert config.end_ids == ()


def test_several_ends_and_newer_rope_fields_are_understood():
    rope = {"rope_type": "default", "rope_theta": 7e5}
    config = config_from(changed(eos_token_id=[2, 0], rope_parameters=rope, rope_theta=None))
    assert (config.end_ids, config.rope_base) == ((2, 0), 7e5)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("model_type", "gpt2", "model_type is 'gpt2'; supported is only 'llama'"),
        ("model_type", None, "model_type is None; supported is only 'llama'"),
        ("hidden_act", "gelu", "hidden_act is 'gelu'"),
        ("attention_bias", 1, "attention_bias is 1; it must be true or false"),
        ("mlp_bias", "no", "mlp_bias is 'no'; it must be true or false"),
        ("sliding_window", 4096, "sliding_window is 4096"),
        ("quantization_config", {"bits": 4}, "quantization_config is {'bits': 4}"),
        ("partial_rotary_factor", 0.5, "partial_rotary_factor is 0.5"),
        ("rope_scaling", {"type": "dynamic"}, "asks for .* 'dynamic'; supported are 'default', 'l"),
        ("rope_scaling", {"type": ["linear"]}, r"asks for RoPE of the type \['linear'\]"),
        ("rope_parameters", {"rope_type": "yarn"}, "rope_parameters asks for .* 'yarn'"),
        ("rope_parameters", {"partial_rotary_factor": 0.5}, "a part of the channels only"),
        ("rope_scaling", 2, "rope_scaling is 2; it must be an object"),
        ("rope_theta", "1e4", "rope_theta is '1e4'"),
        ("rope_theta", 0, "rope_theta is 0; it must be a number above 0"),
        ("rms_norm_eps", -1.0, "rms_norm_eps is -1.0"),
        ("rms_norm_eps", True, "rms_norm_eps is True"),
        ("vocab_size", None, "vocab_size is missing"),
        ("hidden_size", "96", "hidden_size is '96'; it must be a whole number, 1 to"),
        ("num_hidden_layers", 10**9, "num_hidden_layers is 1000000000"),
        ("num_hidden_layers", 0, "num_hidden_layers is 0"),
        ("num_attention_heads", 9.0, "num_attention_heads is 9.0"),
        ("num_key_value_heads", 2, "num_attention_heads 9 must be a multiple of .* 2"),
        ("head_dim", 15, "head_dim 15 must be even"),
        ("tie_word_embeddings", 1, "tie_word_embeddings is 1; it must be true or false"),
        ("eos_token_id", 266, "eos_token_id 266 is outside 0 to 265"),
        ("eos_token_id", "</s>", "eos_token_id is '</s>'"),
    ],
)
def test_what_is_not_supported_is_refused_by_name_and_value(field, value, message):
    with pytest.raises(ValueError, match=message):
        config_from(changed(**{field: value}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"model_type": "llama"', "config.json is no JSON"),
        ('["llama"]', "config.json holds a list; it must be an object"),
        ('{"model_type": "gpt2"}', "config.json: model_type is 'gpt2'"),
        (json.dumps({"pad": "x" * 1_000_001}), r"config.json has \d+ bytes; at most 1000000"),
        ("[" * 200_000, "config.json is no JSON"),
        (b"\xff\xfe\x00", "config.json is no JSON"),
    ],
)
def test_a_broken_file_is_named(tmp_path, text, message):
    data = text if isinstance(text, bytes) else text.encode()
    (tmp_path / "config.json").write_bytes(data)
    with pytest.raises(ValueError, match=message):
        read_config(tmp_path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"config\.json cannot be read: No such file"):
        read_config(tmp_path)
