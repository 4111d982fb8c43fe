"""``config.json`` of anybody: the geometry that it describes, or one clear message."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pagedkv.planner import LARGEST_CONFIG, Geometry, Latent, PlanError, read_config
from pagedkv.planner.checking import LONGEST_SHOWN, shown

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}
GEMMA = {**LLAMA, "sliding_window": 1024}


def read(fields: object) -> Geometry:
    return read_config(json.dumps(fields).encode())


def said(data: bytes) -> str:
    with pytest.raises(PlanError) as refused:
        read_config(data)
    message = str(refused.value)
    assert len(message) < 250 and len(message.splitlines()) == 1
    return message


@pytest.mark.parametrize(
    ("fields", "geometry"),
    [
        (LLAMA, Geometry(32, 8, 128, num_heads=32)),
        ({**LLAMA, "head_dim": 64}, Geometry(32, 8, 64, num_heads=32)),
        ({**LLAMA, "num_key_value_heads": None}, Geometry(32, 32, 128, num_heads=32)),
        ({"n_layer": 12, "n_head": 12, "n_embd": 768}, Geometry(12, 12, 64, num_heads=12)),
        (
            {**LLAMA, "num_key_value_heads": None, "multi_query": True},
            Geometry(32, 1, 128, num_heads=32),
        ),
        ({"model_type": "x", "text_config": LLAMA}, Geometry(32, 8, 128, num_heads=32)),
        (
            {
                **LLAMA,
                **{"kv_lora_rank": 512, "qk_rope_head_dim": 64},
                **{"qk_nope_head_dim": 128, "v_head_dim": 128},
            },
            Geometry(32, 32, 192, num_heads=32, v_head_dim=128, latent=Latent(512, 64)),
        ),
        (
            {**LLAMA, "kv_lora_rank": 256, "qk_rope_head_dim": 32},
            Geometry(32, 1, 288, latent=Latent(256, 32)),
        ),
    ],
)
def test_what_a_file_describes(fields, geometry):
    assert read(fields) == geometry


@pytest.mark.parametrize(
    ("more", "windowed"),
    [
        ({"layer_types": ["sliding_attention"] * 20 + ["full_attention"] * 12}, 20),
        ({"layer_types": ["full_attention"] * 32}, 0),
        ({"model_type": "mistral"}, 32),
        ({"model_type": "mistral", "sliding_window": None}, 0),
        ({"model_type": "gemma2"}, 16),
        ({"model_type": "gemma2", "num_hidden_layers": 33}, 17),
        ({"model_type": "gemma3_text"}, 27),
        ({"model_type": "gemma3_text", "sliding_window_pattern": 4}, 24),
        ({"model_type": "gpt_oss"}, 16),
        ({"model_type": "qwen2"}, 0),
        ({"model_type": "qwen2", "use_sliding_window": False}, 0),
        ({"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 28}, 4),
        ({"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 99}, 0),
        ({"model_type": "qwen3_moe"}, 0),
    ],
)
def test_which_layers_have_a_window(more, windowed):
    geometry = read({**GEMMA, **more})
    assert geometry.windowed_layers == windowed
    assert geometry.window == (1024 if windowed else None)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "num_hidden_layers is missing"),
        ({"num_hidden_layers": 3}, "num_attention_heads is missing"),
        ({**LLAMA, "hidden_size": None}, "hidden_size is missing"),
        ({**LLAMA, "hidden_size": 4097}, "hidden_size is 4097, which 32 heads do not share"),
        ({**LLAMA, "num_hidden_layers": 0}, "num_hidden_layers is 0"),
        ({**LLAMA, "num_hidden_layers": -1}, "num_hidden_layers is -1"),
        ({**LLAMA, "num_hidden_layers": True}, "num_hidden_layers is True"),
        ({**LLAMA, "num_hidden_layers": 32.0}, "num_hidden_layers is 32.0"),
        ({**LLAMA, "num_hidden_layers": "32"}, "num_hidden_layers is '32'"),
        ({**LLAMA, "num_hidden_layers": 10**6}, "num_hidden_layers is 1000000"),
        ({**LLAMA, "num_hidden_layers": 10**400}, "num_hidden_layers is 1000000"),
        (
            {**LLAMA, "num_hidden_layers": 2_000_000},
            "num_hidden_layers is 2000000; it must be a whole number from 1 to 1,024",
        ),
        ({"n_layer": 2, "n_head": 3, "n_embd": 100}, "n_embd is 100, which 3 heads do not share"),
        ({**LLAMA, "num_key_value_heads": [8, 4]}, "num_key_value_heads is [8, 4]"),
        (
            {**LLAMA, "num_key_value_heads": 5},
            "num_attention_heads is 32; it must be a multiple of num_key_value_heads, which is 5",
        ),
        (
            {"n_layer": 2, "n_head": 1, "n_embd": 64, "attn_config": {"kv_n_heads": 8}},
            "n_head is 1; it must be a multiple of kv_n_heads, which is 8",
        ),
        (
            {**LLAMA, "kv_lora_rank": 65_000, "qk_rope_head_dim": 600},
            "kv_lora_rank is 65000 and qk_rope_head_dim 600; together",
        ),
        ({**LLAMA, "is_encoder_decoder": True}, "is_encoder_decoder is True"),
        ({**LLAMA, "num_kv_shared_layers": 10}, "num_kv_shared_layers is 10"),
        ({**LLAMA, "attention_chunk_size": 8192}, "attention_chunk_size is 8192"),
        ({**LLAMA, "layer_types": ["linear_attention"] * 32}, "has 'linear_attention'"),
        ({**LLAMA, "layer_types": ["full_attention"]}, "it must be a list of 32 kinds"),
        ({**LLAMA, "layer_types": "full_attention"}, "it must be a list of 32 kinds"),
        ({**LLAMA, "layer_types": [["full_attention"]] * 32}, "layer_types has ['full_attention']"),
        ({**GEMMA, "model_type": "new"}, "sliding_window is 1024, but not which layers have it"),
        ({**GEMMA, "model_type": ["mistral"]}, "not which layers have it"),
        ({**GEMMA, "model_type": "mistral", "sliding_window": 0}, "sliding_window is 0"),
        ({**GEMMA, "model_type": "mistral", "sliding_window": "all"}, "sliding_window is 'all'"),
        (
            {**GEMMA, "model_type": "mistral", "sliding_window": 10**12},
            "sliding_window is 1000000000000",
        ),
        (
            {**GEMMA, "model_type": "gemma3", "sliding_window_pattern": 0},
            "sliding_window_pattern is",
        ),
        (
            {
                **GEMMA,
                "model_type": "qwen2",
                "use_sliding_window": True,
                "max_window_layers": "all",
            },
            "max_window_layers is 'all'",
        ),
        ({**LLAMA, "kv_lora_rank": 512}, "qk_rope_head_dim is missing"),
        ({**LLAMA, "kv_lora_rank": "<img src=x>"}, "kv_lora_rank is '<img src=x>'"),
    ],
)
def test_what_cannot_be_counted_is_named(fields, message):
    assert message in said(json.dumps(fields).encode())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[]", "no object"),
        (b"null", "no object"),
        (b"{", "no JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 50_000, "nested too deeply"),
        (b'{"num_hidden_layers": ' + b"9" * 5000 + b"}", "no JSON"),
        (b'{"num_hidden_layers": NaN}', "num_hidden_layers is nan"),
        (b'{"num_hidden_layers": 1e999}', "num_hidden_layers is inf"),
        (b" " * (LARGEST_CONFIG + 1), "at most 1,000,000 are read"),
        (b"__import__('os').system('true')", "no JSON"),
    ],
)
def test_what_is_no_config(data, message):
    assert message in said(data)


def test_a_byte_order_mark_is_no_harm():
    assert read_config(b"\xef\xbb\xbf" + json.dumps(LLAMA).encode()) == read(LLAMA)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [
        *LLAMA,
        *("head_dim", "kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"),
        *("layer_types", "sliding_window", "use_sliding_window", "max_window_layers"),
        *("sliding_window_pattern", "text_config", "multi_query", "is_encoder_decoder"),
    ]
)
FAMILIES = st.sampled_from(["gemma2", "gemma3", "mistral", "qwen2", "gpt_oss"])


def outcome(data: bytes) -> None:
    """A geometry or a ``PlanError`` in one short line; nothing else may come."""
    try:
        assert isinstance(read_config(data), Geometry)
    except PlanError as error:
        assert 0 < len(str(error)) < 250
        assert len(str(error).splitlines()) == 1


def test_a_value_of_a_message_is_cut_or_told_whatever_it_is():
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert shown(nested) == shown(10**5000) == "a value too long to write"
    assert shown("x" * 99) == f"'{'x' * (LONGEST_SHOWN - 2)}…"
    assert len(shown("x" * 99)) == LONGEST_SHOWN


@given(st.binary())
def test_any_bytes(data: bytes):
    outcome(data)


@given(VALUES)
def test_any_json(value: object):
    outcome(json.dumps(value).encode())


@given(st.dictionaries(NAMES, VALUES, max_size=6), st.none() | FAMILIES)
@example({"text_config": {"num_hidden_layers": {}}}, None)
def test_a_good_file_with_hostile_fields(fields: dict[str, object], family: str | None):
    model_type = {} if family is None else {"model_type": family}
    outcome(json.dumps({**LLAMA, **model_type, **fields}).encode())


@given(st.data())
def test_a_file_cut_off(data: st.DataObject):
    text = json.dumps(LLAMA).encode()
    said(text[: data.draw(st.integers(0, len(text) - 1))])
