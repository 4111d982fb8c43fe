"""The weights of a llama-architecture folder: safetensors in, the network's tensors out.

The files may come from anywhere, so nothing but safetensors is opened: a header of names, types and
shapes, and numbers. A pickle (`pytorch_model.bin`) is a program that runs when it is loaded, and is
refused. Every tensor must be one that the network has, in its shape, and none may be missing.

One file is `model.safetensors`; a large model is cut into several, and an index says which tensor
lies in which.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from .json_file import read_json

WEIGHTS_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"
LARGEST_INDEX = 16_000_000  # bytes

_COMPUTED = ".rotary_emb.inv_freq"  # RoPE's frequencies, in old files: we compute them

_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def missing_weights(folder: Path) -> str | None:
    """Say that a folder has no weights to read, or None if there are some."""
    if any((folder / name).is_file() for name in (WEIGHTS_FILE, INDEX_FILE)):
        return None
    pickles = sorted(path.name for path in folder.glob("*.bin"))
    hint = f"; {pickles[0]} is not read, for loading a pickle runs it" if pickles else ""
    return f"{folder} has neither {WEIGHTS_FILE} nor {INDEX_FILE}{hint}"


def read_weights(
    folder: Path, shapes: Mapping[str, tuple[int, ...]], spare: frozenset[str] = frozenset()
) -> dict[str, Tensor]:
    """Read the tensors of a folder as float32 on the CPU, by the names that the files use.

    `shapes` are those wanted, by the same names; those in `spare` may be absent. Raises ValueError,
    naming file and tensor, for a tensor that is missing, not wanted, of another shape, no
    floating-point numbers of 16 or 32 bits, or not finite, and for files that are no safetensors,
    cut short, or not there.
    """
    tensors: dict[str, Tensor] = {}
    for path, promised in _files(folder):
        held = dict(_read_file(path, shapes))
        again = sorted(held.keys() & tensors.keys())
        if again:
            raise ValueError(f"{path} holds {again[0]} again; another file has it too")
        tensors |= held
        absent = sorted((promised & shapes.keys()) - held.keys())
        if absent:
            raise ValueError(f"{path} lacks {absent[0]}, which {INDEX_FILE} says it holds")
    missing = [name for name in shapes if name not in tensors and name not in spare]
    if missing:
        raise ValueError(f"{folder} lacks {_listed(missing)}")
    return tensors


def _files(folder: Path) -> list[tuple[Path, set[str]]]:
    """The weights files of a folder, each with the tensors that an index says it holds."""
    if (folder / WEIGHTS_FILE).is_file():
        return [(folder / WEIGHTS_FILE, set())]
    missing = missing_weights(folder)
    if missing is not None:
        raise ValueError(missing)
    places = read_json(folder / INDEX_FILE, LARGEST_INDEX).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise ValueError(f"{folder / INDEX_FILE} has no weight_map of tensors and files")
    files: dict[str, set[str]] = {}
    for tensor, file in places.items():
        # Nothing outside the folder is opened, whatever the index says.
        if not isinstance(file, str) or not file.endswith(".safetensors") or set(file) & set("/\\"):
            raise ValueError(
                f"{folder / INDEX_FILE} puts {tensor} into {file!r}; it must be the name of a "
                "safetensors file in the same folder"
            )
        files.setdefault(file, set()).add(tensor)
    return [(folder / file, tensors) for file, tensors in files.items()]


def _read_file(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, Tensor]]:
    try:
        with safe_open(path, framework="pt") as file:
            names = list(file.keys())
            unknown = [n for n in names if n not in shapes and not n.endswith(_COMPUTED)]
            if unknown:
                raise ValueError(f"{path} holds {_listed(unknown)}, unknown to this network")
            for name in names:
                if name not in shapes:
                    continue
                found = tuple(file.get_slice(name).get_shape())
                if found != shapes[name]:
                    raise ValueError(
                        f"{path}: {name} has shape {list(found)}; by {path.parent.name}'s config "
                        f"it must be {list(shapes[name])}"
                    )
                yield name, _as_float32(path, name, file.get_tensor(name))
    except (OSError, SafetensorError) as error:
        raise ValueError(f"{path} cannot be read as safetensors: {error}") from None


def _as_float32(path: Path, name: str, tensor: Tensor) -> Tensor:
    if tensor.dtype not in _DTYPES:
        raise ValueError(f"{path}: {name} is {tensor.dtype}; it must be one of {_DTYPES}")
    wide = tensor.to(torch.float32)
    if not all(bound.isfinite() for bound in wide.aminmax()):  # both are NaN if any number is
        raise ValueError(f"{path}: {name} has numbers that are not finite")
    return wide


def _listed(names: list[str]) -> str:
    """The first of several names, and how many more."""
    more = f" and {len(names) - 1} more tensors" if len(names) > 1 else ""
    return f"{names[0]}{more}"
