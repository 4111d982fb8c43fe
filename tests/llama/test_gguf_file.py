"""A GGUF file becomes a folder: the same network, the same tokens."""

import json
import sys

import gguf
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_llama import (
    BLOCK,
    CHANNELS,
    CONFIG,
    DIM,
    HEADS,
    LAYERS,
    TOKENS,
    Weights,
    gguf_weights,
    random_weights,
    reference_logits,
    some_ids,
    to_gguf_order,
    tokenizer,
    write_folder,
    write_gguf,
)

from pagedkv.llama import Llama, load_llama
from pagedkv.llama.gguf_file import convert_gguf, restore_rope_order
from pagedkv.llama.tokenizer import LlamaTokenizer
from pagedkv.model.train import dense_causal_attend


def converted(tmp_path, **options):
    folder = tmp_path / "made"
    folder.mkdir(exist_ok=True)
    convert_gguf(write_gguf(tmp_path / "tiny.gguf", **options), folder, lambda line: None)
    return folder


def logits(model: Llama, ids: list[int]) -> torch.Tensor:
    return model(torch.tensor(ids), torch.arange(len(ids)), dense_causal_attend)


@pytest.mark.parametrize("tied", [True, False])
def test_a_folder_and_a_gguf_file_of_one_model_give_equal_logits(tmp_path, tied):
    weights = random_weights(tied=tied)
    config = CONFIG | {"tie_word_embeddings": tied}
    folder = load_llama(write_folder(tmp_path / "folder", weights, config))
    from_gguf = load_llama(converted(tmp_path, tensors=gguf_weights(weights)))
    assert from_gguf.config == folder.config
    ids = some_ids(20)
    assert torch.equal(logits(from_gguf, ids), logits(folder, ids))


def test_the_file_means_what_its_own_rope_makes_of_it(tmp_path):
    """GGUF's rows with GGUF's rotation, by the definitions, against the converted folder."""
    from_gguf = load_llama(converted(tmp_path))
    rows = random_weights()
    for name in rows:
        if "q_proj" in name or "k_proj" in name:
            rows[name] = to_gguf_order(rows[name], len(rows[name]) // DIM)
    ids = some_ids(20)
    expected = reference_logits(rows, ids, interleaved=True)
    assert (logits(from_gguf, ids) - expected).abs().max() < 1e-3
    assert (reference_logits(rows, ids) - expected).abs().max() > 0.5  # else it would prove nothing


def test_rows_go_back_to_the_folders_order():
    rows = torch.arange(HEADS * DIM * 2, dtype=torch.float32).view(HEADS * DIM, 2)
    back = restore_rope_order(to_gguf_order(rows, HEADS).numpy(), HEADS)
    assert np.array_equal(back, rows.numpy())
    assert not np.array_equal(to_gguf_order(rows, HEADS).numpy(), rows.numpy())


@pytest.mark.parametrize("kind", ["Q4_1", "Q8_0"])
def test_packed_weights_are_what_the_format_says(tmp_path, kind):
    kind = gguf.GGMLQuantizationType[kind]
    tensors = gguf_weights(random_weights())
    unpacked: Weights = {}
    for name, tensor in tensors.items():
        packs = tensor.dim() > 1 and tensor.shape[1] % BLOCK == 0
        packed = gguf.quants.quantize(tensor.numpy(), kind) if packs else None
        unpacked[name] = (
            torch.from_numpy(gguf.quants.dequantize(packed, kind)).half().float()
            if packs
            else tensor
        )
    assert not torch.equal(unpacked["blk.0.attn_v.weight"], tensors["blk.0.attn_v.weight"])
    (tmp_path / "plain").mkdir()
    plain = load_llama(converted(tmp_path / "plain", tensors=unpacked))
    packed_model = load_llama(converted(tmp_path, tensors=tensors, quantized=kind))
    ids = some_ids(12)
    assert torch.equal(logits(packed_model, ids), logits(plain, ids))


@pytest.fixture(scope="module")
def from_gguf(tmp_path_factory) -> LlamaTokenizer:
    return LlamaTokenizer(converted(tmp_path_factory.mktemp("gguf")), len(TOKENS))


@settings(max_examples=300)
@given(st.lists(st.sampled_from([*"the is12 é\n.'s", "<|im_end|>", "१", "  ", "don't"])))
def test_the_tokenizer_in_the_file_cuts_as_the_folders_own(from_gguf, parts):
    text = "".join(parts)
    assert from_gguf.encode(text) == tokenizer().encode(text).ids


def test_digits_stand_alone_where_the_rule_says_so(tmp_path, from_gguf):
    assert from_gguf.pieces(from_gguf.encode("12")) == ("1", "2")
    other = LlamaTokenizer(converted(tmp_path, pre="gpt-2"), len(TOKENS))
    assert other.pieces(other.encode("12")) == ("12",)


def test_a_file_may_ask_for_a_token_before_every_text(tmp_path, from_gguf):
    begun = LlamaTokenizer(converted(tmp_path, begin=True), len(TOKENS))
    assert begun.encode("is") == [1, *from_gguf.encode("is")]


def test_matrices_are_kept_in_fp16_and_vectors_as_they_are(tmp_path):
    tensors = gguf_weights(random_weights())
    tensors["output_norm.weight"] = torch.full((CHANNELS,), 1.00001)
    folder = converted(tmp_path, tensors=tensors)
    assert (load_llama(folder).norm.weight == 1.00001).all()
    matrices = sum(t.numel() for t in tensors.values() if t.dim() > 1)
    assert (folder / "model.safetensors").stat().st_size < 2.3 * matrices


def test_the_config_is_one_that_others_read(tmp_path):
    described = json.loads((converted(tmp_path) / "config.json").read_text())
    same = set(described) & set(CONFIG)
    assert {name: described[name] for name in same} == {name: CONFIG[name] for name in same}
    assert set(CONFIG) - same == {"rope_scaling", "attention_bias", "mlp_bias"}  # as when missing


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"architecture": "gpt2"}, "general.architecture is 'gpt2'; supported is only 'llama'"),
        ({"pre": "llama-bpe"}, r"tokenizer\.ggml\.pre is 'llama-bpe'; known are gpt-2, smollm"),
        ({"more": {"llama.rope.scaling.type": "yarn"}}, "llama.rope.scaling.type is 'yarn'"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        converted(tmp_path, **options)


@pytest.mark.parametrize(
    ("name", "tensor", "message"),
    [
        ("rope_freqs.weight", torch.ones(8), "the tensor rope_freqs.weight has no place"),
        ("blk.0.attn_q.bias", torch.ones(144), "the tensor blk.0.attn_q.bias has no place"),
        ("blk.0.attn_q.weight", torch.ones(143, 96), r"attn_q.weight has shape \[143, 96\]"),
        ("blk.1.ffn_up.weight", torch.full((160, 96), torch.inf), "blk.1.ffn_up.weight has numb"),
    ],
)
def test_tensors_without_a_place_are_named(tmp_path, name, tensor, message):
    with pytest.raises(ValueError, match=message):
        converted(tmp_path, tensors=gguf_weights(random_weights()) | {name: tensor})


def test_a_missing_tensor_is_named_when_the_folder_is_loaded(tmp_path):
    tensors = gguf_weights(random_weights())
    del tensors[f"blk.{LAYERS - 1}.ffn_gate.weight"]
    with pytest.raises(ValueError, match=r"lacks model\.layers\.2\.mlp\.gate_proj\.weight"):
        load_llama(converted(tmp_path, tensors=tensors))


@pytest.mark.parametrize("keep", [0, 3, 40, 2000, -100])
def test_a_file_cut_short_is_refused(tmp_path, keep):
    path = write_gguf(tmp_path / "tiny.gguf")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"tiny\.gguf cannot be read as GGUF"):
        convert_gguf(path, tmp_path, lambda line: None)


def test_what_is_no_gguf_is_refused(tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"PK" * 500)
    for name in ("x.gguf", "nowhere.gguf"):
        with pytest.raises(ValueError, match=f"{name} cannot be read as GGUF"):
            convert_gguf(tmp_path / name, tmp_path, lambda line: None)


def test_without_the_package_its_install_line_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(ValueError, match=r"pip install -r requirements-smollm\.txt"):
        convert_gguf(tmp_path / "x.gguf", tmp_path)
