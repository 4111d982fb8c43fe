"""A folder with a model in it: is it there, and the network that comes out of it."""

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import torch

from .config import CONFIG_FILE, read_config
from .names import EMBEDDING, HEAD, name_in_folder
from .network import Llama
from .tokenizer import INSTALL, TOKENIZER_FILE, LlamaTokenizer
from .weights import missing_weights, read_weights

FOLDER_VARIABLE = "PAGEDKV_LLAMA"
DEFAULT_NAME = "SmolLM2-135M-Instruct"
DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / "models" / DEFAULT_NAME


@dataclass(frozen=True, slots=True)
class FoundLlama:
    """Where a real model is or would be; `missing` says in words what is not there, else None."""

    folder: Path
    name: str
    missing: str | None

    @property
    def is_there(self) -> bool:
        """Whether `load_llama(folder)` has all the files that it opens."""
        return self.missing is None


def find_llama(folder: str | Path | None = None) -> FoundLlama:
    """Look for a model without reading it: cheap enough for every visit of a page.

    Without `folder` it is the one that the environment variable PAGEDKV_LLAMA names, else where
    `make smollm` puts SmolLM2.
    """
    asked = folder or os.environ.get(FOLDER_VARIABLE)
    place = Path(asked).expanduser() if asked else DEFAULT_FOLDER
    missing = _missing_files(place)
    if missing is not None and not folder:
        missing += _how_to_get(is_default=not asked)
    if missing is None and find_spec("tokenizers") is None:
        missing = f"the package tokenizers is not installed; {INSTALL}"
    return FoundLlama(place, place.name, missing)


def load_llama(folder: str | Path | None = None, device: torch.device | str = "cpu") -> Llama:
    """Return the model of a folder: float32, on `device`, in eval mode, without gradients.

    `folder` as for `find_llama`. Raises ValueError, naming file and value, for files that are
    missing, broken or not supported, and where the package `tokenizers` is not installed.
    """
    found = find_llama(folder)
    if found.missing is not None:
        raise ValueError(found.missing)
    config = read_config(found.folder)
    tokenizer = LlamaTokenizer(found.folder, config.vocab_size)
    with torch.device("meta"):  # shapes without memory; the tensors of the files take their places
        model = Llama(config, tokenizer, found.name)
    names = {name: name_in_folder(name) for name in model.state_dict()}
    shapes = {names[name]: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    spare = frozenset([names[HEAD]] if config.tied else [])
    tensors = read_weights(found.folder, shapes, spare)
    if config.tied:
        embedding = tensors[names[EMBEDDING]]
        if not torch.equal(tensors.setdefault(names[HEAD], embedding), embedding):
            raise ValueError(
                f"{found.folder}: {names[HEAD]} is not {names[EMBEDDING]}, though "
                "tie_word_embeddings is true"
            )
    model.load_state_dict({name: tensors[names[name]] for name in names}, assign=True)
    model.tie()  # loading has made them two
    return model.to(device).eval().requires_grad_(False)


def _how_to_get(*, is_default: bool) -> str:
    """What to do where a model was looked for without saying where."""
    if is_default:
        return "; `make smollm` fetches it (93 MB, once)"
    return (
        f". {FOLDER_VARIABLE} names that folder; without it, {DEFAULT_NAME} is used, which "
        "`make smollm` fetches (93 MB, once)"
    )


def _missing_files(folder: Path) -> str | None:
    if not folder.is_dir():
        return f"there is no folder {folder}"
    for name in (CONFIG_FILE, TOKENIZER_FILE):
        if not (folder / name).is_file():
            return f"{folder} has no {name}"
    return missing_weights(folder)
