"""Folders that come from anywhere: found, loaded, or refused with words that name the trouble."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from tiny_llama import CONFIG, VOCAB, random_weights, some_ids, write_folder

from pagedkv.llama import find_llama, load_llama
from pagedkv.llama import folder as llama_folder
from pagedkv.model.train import dense_causal_attend

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path) -> Path:
    return write_folder(tmp_path / "tiny")


def logits(folder: Path) -> torch.Tensor:
    model = load_llama(folder)
    ids = some_ids(7)
    return model(torch.tensor(ids), torch.arange(7), dense_causal_attend)


def rewrite(folder: Path, weights: dict[str, torch.Tensor]) -> None:
    save_file(weights, folder / "model.safetensors")


Q = "model.layers.1.self_attn.q_proj.weight"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w.pop(Q), f"lacks {Q}"),
        (lambda w: (w.pop(Q), w.pop("model.norm.weight")), r"lacks .* and 1 more tensor"),
        (lambda w: w.update({Q: w[Q][:-1]}), rf"{Q} has shape \[143, 96\]; .* \[144, 96\]"),
        (lambda w: w.update({Q: w[Q].T.contiguous()}), r"has shape \[96, 144\]"),
        (lambda w: w.update({Q: w[Q].to(torch.int8)}), f"{Q} is torch.int8; it must be one of"),
        (lambda w: w[Q].__setitem__((3, 3), torch.nan), f"{Q} has numbers that are not finite"),
        (lambda w: w[Q].__setitem__((3, 3), -torch.inf), f"{Q} has numbers that are not finite"),
        (
            lambda w: w.update({"model.layers.1.self_attn.q_proj.bias": torch.zeros(144)}),
            "q_proj.bias, unknown to this network",
        ),
        (
            lambda w: w.update({"lm_head.weight": w["model.norm.weight"].expand(VOCAB, 96) + 0}),
            "lm_head.weight is not model.embed_tokens.weight, though tie_word_embeddings is true",
        ),
    ],
)
def test_tensors_that_do_not_fit_are_named(folder, change, message):
    weights = random_weights()
    change(weights)
    rewrite(folder, weights)
    with pytest.raises(ValueError, match=message):
        load_llama(folder)


def test_an_untied_model_needs_its_output_layer(folder):
    (folder / "config.json").write_text(json.dumps(CONFIG | {"tie_word_embeddings": False}))
    with pytest.raises(ValueError, match=r"lacks lm_head\.weight"):
        load_llama(folder)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_the_three_usual_types_are_widened(folder, dtype):
    expected = logits(folder)
    rewrite(folder, {name: tensor.to(dtype) for name, tensor in random_weights().items()})
    tolerance = 1.0 if dtype == torch.bfloat16 else 0.0
    assert (logits(folder) - expected).abs().max() <= tolerance


def test_copies_of_what_we_have_or_compute_may_lie_beside(folder):
    expected = logits(folder)
    weights = random_weights()
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"].clone()
    weights["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.zeros(8)
    rewrite(folder, weights)
    assert torch.equal(logits(folder), expected)


def in_two_files(folder: Path, **places: str) -> dict[str, str]:
    """Cut the weights in two, write the index with other ``places`` for some, and return it."""
    weights = random_weights()
    names = list(weights)
    (folder / "model.safetensors").unlink()
    weight_map = {}
    for i, part in enumerate((names[::2], names[1::2])):
        file = f"model-{i + 1:05}-of-00002.safetensors"
        save_file({name: weights[name] for name in part}, folder / file)
        weight_map |= dict.fromkeys(part, file)
    weight_map |= places
    index = {"metadata": {}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return weight_map


def test_a_model_cut_into_several_files_is_read_by_its_index(folder):
    expected = logits(folder)
    in_two_files(folder)
    assert find_llama(folder).is_there
    assert torch.equal(logits(folder), expected)


@pytest.mark.parametrize(
    "file", ["../tiny.safetensors", "/etc/hosts.safetensors", "..\\x.safetensors", "model.bin", 7]
)
def test_an_index_cannot_point_outside_the_folder(folder, file):
    in_two_files(folder, **{Q: file})
    with pytest.raises(ValueError, match="must be the name of a safetensors file in the same"):
        load_llama(folder)


def test_a_file_that_lacks_what_the_index_promises_is_named(folder):
    places = in_two_files(folder)
    other = next(file for file in places.values() if file != places[Q])
    index = {"weight_map": places | {Q: other}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ValueError, match=f"lacks {Q}, which .* says it holds"):
        load_llama(folder)


def test_a_tensor_in_two_files_is_named(folder):
    places = in_two_files(folder)
    other = next(file for file in places.values() if file != places[Q])
    weights = random_weights()
    held = {name: weights[name] for name, file in places.items() if file == other or name == Q}
    save_file(held, folder / other)
    with pytest.raises(ValueError, match=f"holds {Q} again"):
        load_llama(folder)


def test_a_file_that_the_index_names_and_nobody_wrote_is_named(folder):
    places = in_two_files(folder)
    (folder / places[Q]).unlink()
    with pytest.raises(ValueError, match=f"{places[Q]} cannot be read"):
        load_llama(folder)


@pytest.mark.parametrize("text", ["{}", '{"weight_map": []}', '{"weight_map": {}}'])
def test_an_index_without_a_map_is_refused(folder, text):
    in_two_files(folder)
    (folder / "model.safetensors.index.json").write_text(text)
    with pytest.raises(ValueError, match=r"index\.json has no weight_map"):
        load_llama(folder)


@pytest.mark.parametrize("length", [0, 4, 100, -1, -5000])
def test_a_file_cut_short_is_refused(folder, length):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ValueError, match=r"model\.safetensors cannot be read as safetensors"):
        load_llama(folder)


class Bomb:
    """What a pickle can do to whoever loads it."""

    def __reduce__(self):
        return (Path.touch, (Path("exploded"),))


def test_a_pickle_is_never_loaded_whatever_it_is_called(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (folder / "model.safetensors").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="cannot be read as safetensors"):
        load_llama(folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"pytorch_model\.bin is not read, for loading a pickle"):
        load_llama(folder)
    assert not (tmp_path / "exploded").exists()
    pickle.loads((folder / "pytorch_model.bin").read_bytes())
    assert (tmp_path / "exploded").exists()  # the bomb was a live one


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_what_a_folder_lacks_is_said(folder, name):
    (folder / name).unlink()
    found = find_llama(folder)
    assert not found.is_there
    assert name in found.missing
    assert "make smollm" not in found.missing  # it would not fill this folder
    with pytest.raises(ValueError, match=name):
        load_llama(folder)


def test_a_whole_folder_is_found_with_its_name(folder):
    found = find_llama(str(folder))
    assert (found.folder, found.name, found.missing) == (folder, "tiny", None)


def test_without_a_folder_it_is_where_make_smollm_puts_it(monkeypatch, tmp_path):
    monkeypatch.delenv("PAGEDKV_LLAMA", raising=False)
    assert llama_folder.DEFAULT_FOLDER == PROJECT / "models" / "SmolLM2-135M-Instruct"
    monkeypatch.setattr(llama_folder, "DEFAULT_FOLDER", tmp_path / "nowhere")
    found = find_llama()
    assert "there is no folder" in found.missing
    assert "`make smollm` fetches it" in found.missing
    with pytest.raises(ValueError, match="make smollm"):
        load_llama()


def test_the_environment_may_name_another_folder(monkeypatch, folder):
    monkeypatch.setenv("PAGEDKV_LLAMA", str(folder))
    assert find_llama().folder == folder
    assert load_llama().name == "tiny"


def test_an_environment_that_names_a_folder_in_vain_is_told_and_the_way_to_the_weights(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("PAGEDKV_LLAMA", str(tmp_path / "nowhere"))
    missing = find_llama().missing
    assert missing.startswith(
        f"there is no folder {tmp_path / 'nowhere'}. PAGEDKV_LLAMA names that"
    )
    assert "`make smollm` fetches" in missing


def test_without_the_package_tokenizers_its_install_line_is_said(monkeypatch, folder):
    monkeypatch.setattr(llama_folder, "find_spec", lambda name: None)
    assert "pip install -r requirements-smollm.txt" in find_llama(folder).missing


def test_the_folder_for_models_is_no_part_of_the_repository():
    asked = ["git", "check-ignore", "models/SmolLM2-135M-Instruct/model.safetensors"]
    assert subprocess.run(asked, cwd=PROJECT, capture_output=True).returncode == 0


def test_nothing_optional_is_imported_before_it_is_needed():
    script = (
        "import sys, pagedkv, pagedkv.llama, pagedkv.llama.fetch, pagedkv.lessons\n"
        "pagedkv.llama.find_llama()\n"
        "print([n for n in ('gguf', 'tokenizers', 'huggingface_hub') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=PROJECT, capture_output=True)
    assert done.stdout.decode().strip() == "[]", done.stderr


def test_what_make_smollm_installs_is_what_the_tests_use():
    pins = [
        {
            line.split("#")[0].strip()
            for line in (PROJECT / name).read_text().splitlines()
            if "==" in line
        }
        for name in ("requirements-smollm.txt", "requirements-dev.txt")
    ]
    assert {pin.split("==")[0] for pin in pins[0]} == {"tokenizers", "gguf"}
    assert pins[0] <= pins[1]
