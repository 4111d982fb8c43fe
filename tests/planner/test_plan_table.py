"""The table of models: every row against its printed bytes, and how it is found and marked."""

import pytest

from pagedkv.planner import MODELS, Choices, KvMemory, PlanError, find_model, make_plan
from pagedkv.planner.geometry import describe
from pagedkv.planner.model_table import plain

# Bytes a token in fp16, all GPUs together, as they were worked out apart from this code.
BYTES = {
    "GPT-2 small (124M)": 36_864,
    "OPT-13B": 819_200,
    "OPT-66B": 2_359_296,
    "OPT-175B": 4_718_592,
    "Llama-2-7B": 524_288,
    "Llama-2-13B": 819_200,
    "Llama-2-70B": 327_680,
    "Llama-3 / 3.1-8B": 131_072,
    "Llama-3 / 3.1 / 3.3-70B": 327_680,
    "Llama-3.1-405B": 516_096,
    "Llama-3.2-1B": 32_768,
    "Llama-3.2-3B": 114_688,
    "Mistral-7B v0.1": 131_072,
    "Mistral-7B v0.3": 131_072,
    "Mixtral-8x7B": 131_072,
    "Mixtral-8x22B": 229_376,
    "Qwen2.5-0.5B": 12_288,
    "Qwen2.5-1.5B": 28_672,
    "Qwen2.5-7B": 57_344,
    "Qwen2.5-14B": 196_608,
    "Qwen2.5-32B": 262_144,
    "Qwen2.5-72B": 327_680,
    "Qwen3-0.6B / 1.7B": 114_688,
    "Qwen3-4B / 8B": 147_456,
    "Qwen3-14B": 163_840,
    "Qwen3-32B": 262_144,
    "Qwen3-30B-A3B": 98_304,
    "Qwen3-235B-A22B": 192_512,
    "Gemma-2-2B": 106_496,
    "Gemma-2-9B": 344_064,
    "Gemma-2-27B": 376_832,
    "Gemma-3-1B": 26_624,
    "Gemma-3-4B": 139_264,
    "Gemma-3-12B": 393_216,
    "Gemma-3-27B": 507_904,
    "Phi-2": 327_680,
    "Phi-3-mini-4k": 393_216,
    "Phi-4 (14B)": 204_800,
    "Phi-4-mini": 131_072,
    "Falcon-7B": 8_192,
    "gpt-oss-20b": 49_152,
    "gpt-oss-120b": 73_728,
    "MiniMax-M2": 253_952,
    "SmolLM2-135M": 23_040,
    "DeepSeek-V3 / R1": 70_272,
    "Mistral-Small-4": 23_040,
    "Qwen3-Coder-480B-A35B": 253_952,
}
# Layers, KV heads and head_dim, or layers, rank and rotated numbers of a latent; and words of the
# source: copied from the sources themselves, apart from this code.
LITGPT = "litgpt 0.5.13, its configuration of this model"
PAPER = (
    "the PagedAttention paper, section 3 (hidden size 5,120, 40 layers, 800 KB a token); 40 heads "
    "of 128 are recalled"
)
GGUF = "the metadata inside this model's own GGUF file"
TRANSFORMERS = "transformers 5.24.0, the defaults of this model's configuration class"
AND_LOG = f"{TRANSFORMERS}; a vLLM log agrees in bytes"
AND_VLLM = (
    "transformers 5.24.0, the defaults of this model family's configuration class; layers as a "
    "comment in vLLM's source counts them"
)
RECALLED = (
    "unverified: recalled, and held only against the slot counts in Table 1 of the PagedAttention "
    "paper"
)
INFERRED = "unverified: inferred from a vLLM log, with which it agrees in bytes"
ROWS = {
    "GPT-2 small (124M)": ((12, 12, 64), TRANSFORMERS),
    "OPT-13B": ((40, 40, 128), PAPER),
    "OPT-66B": ((64, 72, 128), RECALLED),
    "OPT-175B": ((96, 96, 128), RECALLED),
    "Llama-2-7B": ((32, 32, 128), LITGPT),
    "Llama-2-13B": ((40, 40, 128), LITGPT),
    "Llama-2-70B": ((80, 8, 128), LITGPT),
    "Llama-3 / 3.1-8B": ((32, 8, 128), LITGPT),
    "Llama-3 / 3.1 / 3.3-70B": ((80, 8, 128), LITGPT),
    "Llama-3.1-405B": ((126, 8, 128), LITGPT),
    "Llama-3.2-1B": ((16, 8, 64), LITGPT),
    "Llama-3.2-3B": ((28, 8, 128), LITGPT),
    "Mistral-7B v0.1": ((32, 8, 128), LITGPT),
    "Mistral-7B v0.3": ((32, 8, 128), LITGPT),
    "Mixtral-8x7B": ((32, 8, 128), LITGPT),
    "Mixtral-8x22B": ((56, 8, 128), LITGPT),
    "Qwen2.5-0.5B": ((24, 2, 64), LITGPT),
    "Qwen2.5-1.5B": ((28, 2, 128), LITGPT),
    "Qwen2.5-7B": ((28, 4, 128), LITGPT),
    "Qwen2.5-14B": ((48, 8, 128), LITGPT),
    "Qwen2.5-32B": ((64, 8, 128), LITGPT),
    "Qwen2.5-72B": ((80, 8, 128), LITGPT),
    "Qwen3-0.6B / 1.7B": ((28, 8, 128), LITGPT),
    "Qwen3-4B / 8B": ((36, 8, 128), LITGPT),
    "Qwen3-14B": ((40, 8, 128), LITGPT),
    "Qwen3-32B": ((64, 8, 128), LITGPT),
    "Qwen3-30B-A3B": ((48, 4, 128), LITGPT),
    "Qwen3-235B-A22B": ((94, 4, 128), LITGPT),
    "Gemma-2-2B": ((26, 4, 256), LITGPT),
    "Gemma-2-9B": ((42, 8, 256), LITGPT),
    "Gemma-2-27B": ((46, 16, 128), LITGPT),
    "Gemma-3-1B": ((26, 1, 256), LITGPT),
    "Gemma-3-4B": ((34, 4, 256), LITGPT),
    "Gemma-3-12B": ((48, 8, 256), LITGPT),
    "Gemma-3-27B": ((62, 16, 128), LITGPT),
    "Phi-2": ((32, 32, 80), LITGPT),
    "Phi-3-mini-4k": ((32, 32, 96), LITGPT),
    "Phi-4 (14B)": ((40, 10, 128), LITGPT),
    "Phi-4-mini": ((32, 8, 128), LITGPT),
    "Falcon-7B": ((32, 1, 64), LITGPT),
    "gpt-oss-20b": ((24, 8, 64), AND_VLLM),
    "gpt-oss-120b": ((36, 8, 64), TRANSFORMERS),
    "MiniMax-M2": ((62, 8, 128), TRANSFORMERS),
    "SmolLM2-135M": ((30, 3, 64), GGUF),
    "DeepSeek-V3 / R1": ((61, 512, 64), TRANSFORMERS),
    "Mistral-Small-4": ((36, 256, 64), AND_LOG),
    "Qwen3-Coder-480B-A35B": ((62, 8, 128), INFERRED),
}
WINDOWS = {
    "Mistral-7B v0.1": (32, 4096),
    "Gemma-2-2B": (13, 4096),
    "Gemma-2-9B": (21, 4096),
    "Gemma-2-27B": (23, 4096),
    "Gemma-3-1B": (22, 512),
    "Gemma-3-4B": (29, 1024),
    "Gemma-3-12B": (40, 1024),
    "Gemma-3-27B": (52, 1024),
    "gpt-oss-20b": (12, 128),
    "gpt-oss-120b": (18, 128),
}
MHA = {"GPT-2 small (124M)", "Llama-2-7B", "Llama-2-13B", "Phi-2", "Phi-3-mini-4k"}
MHA |= {"OPT-13B", "OPT-66B", "OPT-175B"}
MQA, MLA = {"Falcon-7B", "Gemma-3-1B"}, {"DeepSeek-V3 / R1", "Mistral-Small-4"}
EVERY_MODEL = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.title)


def test_the_table_is_all_there():
    assert [model.title for model in MODELS] == list(BYTES)


@EVERY_MODEL
@pytest.mark.parametrize("dtype_bytes", [1, 2, 4])
def test_bytes_per_token_are_those_that_were_worked_out_apart(model, dtype_bytes):
    plan = make_plan(Choices(model.geometry, KvMemory(1), dtype_bytes=dtype_bytes))
    assert plan.bytes_per_token == BYTES[model.title] * dtype_bytes // 2


@EVERY_MODEL
def test_layers_heads_and_source_are_those_that_were_copied_apart(model):
    """Two wrong numbers may have the right product, so the bytes alone do not tell."""
    geometry, (numbers, source) = model.geometry, ROWS[model.title]
    latent = geometry.latent
    kept = (
        (geometry.num_kv_heads, geometry.head_dim)
        if latent is None
        else (latent.rank, latent.rope_dim)
    )
    assert (geometry.num_layers, *kept) == numbers
    assert source == model.source


@EVERY_MODEL
def test_windows_and_kinds(model):
    geometry = model.geometry
    expected = WINDOWS.get(model.title, (0, None))
    assert (geometry.windowed_layers, geometry.window) == expected
    kinds = {"MHA": MHA, "MQA": MQA, "MLA": MLA}
    kind = next((kind for kind, titles in kinds.items() if model.title in titles), "GQA")
    if model.title != "Qwen3-Coder-480B-A35B":  # of which the query heads are not known
        assert geometry.kind == kind


@EVERY_MODEL
def test_every_row_says_in_words_where_it_comes_from(model):
    assert len(model.source.split()) >= 4
    assert model.is_verified != model.source.startswith("unverified")
    start = "Geometry from: " if model.is_verified else "Geometry unverified: "
    assert model.source_words.startswith(start) and model.source in model.source_words


def test_what_is_not_verified_is_marked():
    unverified = {model.title for model in MODELS if not model.is_verified}
    assert unverified == {"OPT-66B", "OPT-175B", "Qwen3-Coder-480B-A35B"}


@EVERY_MODEL
def test_every_name_finds_its_model(model):
    for name in (*model.names, model.title, model.title.upper(), f"owner/{model.names[0]}"):
        assert find_model(name) is model


def test_no_name_stands_for_two_models():
    names = [name for model in MODELS for name in {*model.names, plain(model.title)}]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "Llama-3 / 3.1-8B"),
        ("meta-llama/Meta-Llama-3-70B", "Llama-3 / 3.1 / 3.3-70B"),
        ("google/gemma-2-9b-it", "Gemma-2-9B"),
        ("Llama 2 13B", "Llama-2-13B"),
    ],
)
def test_names_as_people_write_them(name, title):
    assert find_model(name).title == title


@pytest.mark.parametrize("name", ["", "gemma", "x" * 10_000, "\n", "../etc/passwd", "💥"])
def test_an_unknown_name_is_refused_in_one_short_line(name):
    with pytest.raises(PlanError) as refused:
        find_model(name)
    assert len(str(refused.value)) < 250
    assert len(str(refused.value).splitlines()) == 1


def test_a_name_that_is_nearly_right_is_helped_on():
    with pytest.raises(PlanError, match=r"near it: .*llama-3\.1-8b"):
        find_model("lama-3.1-8b")


def test_weights_are_counted_where_parameters_are_known():
    assert find_model("opt-13b").weights_gib == 24.21  # 13e9 × 2 / 2^30
    assert find_model("deepseek-v3").weights_gib is None


def test_a_model_in_words():
    assert describe(find_model("gemma-3-4b").geometry) == (
        "GQA: 34 layers, 4 KV heads of 256 for 8 query heads; 29 of them see the last 1,024 "
        "positions only"
    )
    assert describe(find_model("deepseek-r1").geometry) == (
        "MLA: 61 layers, a latent of 512 + 64 numbers"
    )
