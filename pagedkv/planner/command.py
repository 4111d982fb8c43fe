"""``python -m pagedkv plan``: how many requests fit into a GPU, as text or as JSON."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from pagedkv.planner.advice import advice_words, verdict_words
from pagedkv.planner.caveats import note_words, warning_words
from pagedkv.planner.checking import PlanError, shown
from pagedkv.planner.choices import DTYPES, USUAL, Choices
from pagedkv.planner.config_file import LARGEST_CONFIG, read_config
from pagedkv.planner.geometry import Geometry, Latent, describe
from pagedkv.planner.memory import GpuMemory, KvMemory, Memory
from pagedkv.planner.model_table import MODELS, Model, find_model
from pagedkv.planner.plan import Plan, make_plan
from pagedkv.planner.steps import make_steps

WHOLE = {  # flag: its help text
    "layers": "layers of your own geometry",
    "kv-heads": "its KV heads",
    "head-dim": "numbers in a key, and in a value",
    "mla-rank": "rank of MLA's latent; KV heads and head_dim are then not needed",
    "rope-dim": "rotated numbers beside that latent",
    "window": "positions that windowed layers see",
    "window-layers": "how many layers have that window",
    "dtype-bytes": f"of one number in the cache: {', '.join(map(str, DTYPES))}",
    "tp": "GPUs that share the model (tensor parallelism)",
    "block-size": "positions in a block",
    "max-len": "positions of the longest request, prompt and answer",
    "batched-tokens": "most tokens in one step of the engine, for windows",
}
MEASURES = {
    "kv-gib": "GiB of each GPU that are for KV; or all of the following",
    "gpu-gib": "GiB of each GPU",
    "utilization": "the share of it that the engine takes, mostly 0.9",
    "weights-gib": "GiB of weights on each GPU",
    "overhead-gib": "GiB for activations and the rest on each GPU",
}
OWN = ("layers", "kv_heads", "head_dim", "mla_rank", "rope_dim", "window", "window_layers")

FLAGS = {flag.replace("-", "_"): f"--{flag}" for flag in (*WHOLE, *MEASURES)}
FLAGS["windowed_layers"] = "--window-layers"

Numbers = Mapping[str, Any]


def add_plan(commands: Any) -> None:
    """Add the command to the parser's others. Numbers are read later, to be refused in one line."""
    parser = commands.add_parser("plan", help="count the KV cache of a model on a GPU")
    parser.add_argument("--model", metavar="NAME", help="a model of the table")
    parser.add_argument("--config", metavar="FILE", help="a model's config.json")
    parser.add_argument("--models", action="store_true", help="list the table, and nothing else")
    for flag, explanation in {**WHOLE, **MEASURES}.items():
        parser.add_argument(f"--{flag}", metavar="N", help=explanation + _usual(flag))
    parser.add_argument("--json", action="store_true", help="as JSON")


def _usual(flag: str) -> str:
    usual = USUAL.get(_name(flag))
    return "" if usual is None else f"; default {usual}"


def print_plan(options: argparse.Namespace) -> str:
    """The plan that the flags ask for; raises ``PlanError``, by their names, for what cannot be."""
    try:
        return _printed(options)
    except PlanError as error:
        raise PlanError(error.named(FLAGS)) from None


def _printed(options: argparse.Namespace) -> str:
    if options.models:
        return _models_as_json() if options.json else "\n".join(map(_model_line, MODELS))
    numbers = _numbers(options)
    model = None if options.model is None else find_model(options.model)
    geometry = _geometry(options, numbers, model)
    given = {
        name: numbers[name]
        for name in (field.name for field in fields(Choices))
        if numbers.get(name) is not None
    }
    plan = make_plan(Choices(geometry, _memory(numbers, model), **given))
    if options.json:
        return json.dumps(plan_to_dict(plan, model), ensure_ascii=False, allow_nan=False)
    return _as_text(plan, model)


def plan_to_dict(plan: Plan, model: Model | None = None) -> dict[str, object]:
    """A plan as plain values; ``message`` is null where a request of the maximum length fits."""
    problem = None if plan.fits else " ".join((verdict_words(plan), *advice_words(plan)))
    return {
        "model": None if model is None else model.title,
        "source": None if model is None else model.source,
        "bytes_per_token": plan.bytes_per_token,
        "block_bytes": plan.block_bytes,
        "kv_bytes": plan.choices.memory.kv_bytes,
        "num_blocks": plan.num_blocks,
        "kv_tokens": plan.kv_tokens,
        "cache_size_tokens": plan.cache_size_tokens,
        "blocks_per_request": plan.blocks_per_request,
        "max_concurrency": plan.max_concurrency,
        "max_len_that_fits": plan.max_len_that_fits,
        "fits_any_length": plan.fits_any_length,
        "fits": plan.fits,
        "message": problem,
        "warnings": list(warning_words(plan)),
        "steps": [asdict(step) for step in make_steps(plan)],
    }


def _numbers(options: argparse.Namespace) -> dict[str, Any]:
    """What the flags say, as numbers; None where one was not given."""
    read = {}
    for flags, kind, wanted in ((WHOLE, int, "a whole number"), (MEASURES, float, "a number")):
        for flag in flags:
            name = _name(flag)
            text = getattr(options, name)
            read[name] = None if text is None else _number(name, text, kind, wanted)
    return read


def _number(name: str, text: str, kind: type[int] | type[float], wanted: str) -> int | float:
    try:
        if "_" in text or not text.isascii():  # Python would take both
            raise ValueError
        return kind(text)
    except ValueError:
        raise PlanError(f"{_flag(name)} is {shown(text)}; it must be {wanted}") from None


def _geometry(options: argparse.Namespace, numbers: Numbers, model: Model | None) -> Geometry:
    own = [_flag(name) for name in OWN if numbers[name] is not None]
    named = [f"--{name}" for name in ("model", "config") if getattr(options, name) is not None]
    if len(named) > 1:
        raise PlanError(f"{' and '.join(named)} both say what the model is; give one of them")
    if named and own:
        raise PlanError(f"{named[0]} says what the model is; leave {' and '.join(own)} out")
    if model is not None:
        return model.geometry
    if options.config is not None:
        return _from_file(options.config)
    return _own_geometry(numbers)


def _from_file(name: str) -> Geometry:
    try:
        with Path(name).open("rb") as file:
            data = file.read(LARGEST_CONFIG + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no name of a file"
        raise PlanError(f"--config is {shown(name)}, which cannot be read: {reason}") from None
    return read_config(data)


def _own_geometry(numbers: Numbers) -> Geometry:
    has_latent = numbers["mla_rank"] is not None or numbers["rope_dim"] is not None
    needed = (
        ("layers", "mla_rank", "rope_dim") if has_latent else ("layers", "kv_heads", "head_dim")
    )
    missing = [_flag(name) for name in needed if numbers[name] is None]
    if missing:
        raise PlanError(
            f"the model is not known without {' and '.join(missing)}: give --model NAME, or "
            "--config FILE, or --layers --kv-heads --head-dim, or --layers --mla-rank --rope-dim"
        )
    latent = Latent(numbers["mla_rank"], numbers["rope_dim"]) if has_latent else None
    # A latent is what every GPU has of all heads; they count for nothing, and may be left out.
    return Geometry(
        num_layers=numbers["layers"],
        num_kv_heads=1 if numbers["kv_heads"] is None else numbers["kv_heads"],
        head_dim=latent.size if numbers["head_dim"] is None and latent else numbers["head_dim"],
        windowed_layers=numbers["window_layers"] or 0,
        window=numbers["window"],
        latent=latent,
    )


def _memory(numbers: Numbers, model: Model | None) -> Memory:
    parts = [name for name in map(_name, MEASURES) if numbers[name] is not None]
    if "kv_gib" in parts:
        if len(parts) > 1:
            others = " and ".join(_flag(name) for name in parts if name != "kv_gib")
            raise PlanError(f"--kv-gib says how much there is for KV; leave {others} out")
        return KvMemory(numbers["kv_gib"])
    names = [field.name for field in fields(GpuMemory)]
    missing = [_flag(name) for name in names if numbers[name] is None]
    if missing:
        raise PlanError(
            f"the memory is not known without {' and '.join(missing)}: give --kv-gib, or --gpu-gib "
            f"--utilization --weights-gib --overhead-gib{_hint(numbers, model)}"
        )
    return GpuMemory(**{name: numbers[name] for name in names})


def _hint(numbers: Numbers, model: Model | None) -> str:
    """What the weights come to, where they are wanted and known."""
    if numbers["weights_gib"] is not None or model is None or model.weights_gib is None:
        return ""
    return f" (at 2 bytes a parameter the weights are {model.weights_gib:,} GiB in all)"


def _name(flag: str) -> str:
    return flag.replace("-", "_")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _as_text(plan: Plan, model: Model | None) -> str:
    """Model and source, the arithmetic line by line, and what it comes to."""
    title = "A model of your own" if model is None else model.title
    lines = [f"{title}: {describe(plan.choices.geometry)}"]
    if model is not None:
        lines.append(model.source_words)
        lines += [model.note] if model.note else []
    table = make_steps(plan)
    wide, long = (max(len(getattr(s, name)) for s in table) for name in ("label", "formula"))
    lines += ["", *(f"{s.label:{wide}}  {s.formula:{long}}  {s.result}" for s in table), ""]
    said = [*advice_words(plan), *warning_words(plan), *note_words(plan)]
    return "\n".join([*lines, verdict_words(plan), *said])


def _model_line(model: Model) -> str:
    return f"{model.names[0]:24} {describe(model.geometry)}. From: {model.source}"


def _geometry_as_dict(geometry: Geometry) -> dict[str, object]:
    """A geometry as plain values, by the names that the flags have."""
    values = asdict(geometry)
    names = {"num_layers": "layers", "num_kv_heads": "kv_heads"}
    return {names.get(name, name): value for name, value in values.items()}


def _models_as_json() -> str:
    rows = [
        {
            "title": model.title,
            "names": model.names,
            **_geometry_as_dict(model.geometry),
            "source": model.source,
        }
        for model in MODELS
    ]
    return json.dumps(rows, ensure_ascii=False)
