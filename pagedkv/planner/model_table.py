"""The models that are known by name: their geometry, and where each row of it comes from."""

import json
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pagedkv.planner.checking import Named, PlanError, shown
from pagedkv.planner.geometry import Geometry, Latent
from pagedkv.planner.memory import GIB

TABLE = Path(__file__).with_name("models.json")
WEIGHT_BYTES = 2  # of a parameter in fp16 or bf16
SUGGESTIONS = 3
LONGEST_NAME = 100  # characters; a longer one names no model


@dataclass(frozen=True, slots=True)
class Model:
    """A row of the table: ``title`` to show, ``names`` to find it by, the newest model first.

    ``source`` says where the geometry comes from; it begins with "unverified" where nothing that
    was read confirms it. ``billions`` of parameters, None where no source was at hand.
    """

    title: str
    names: tuple[str, ...]
    geometry: Geometry
    source: str
    is_verified: bool
    billions: float | None
    note: str

    @property
    def source_words(self) -> str:
        """Where the geometry comes from, in a sentence."""
        return f"Geometry {'from: ' if self.is_verified else ''}{self.source}."

    @property
    def weights_gib(self) -> float | None:
        """The weights at two bytes a parameter, to two decimals; None if they are not known."""
        if self.billions is None:
            return None
        return round(self.billions * 1e9 * WEIGHT_BYTES / GIB, 2)


def _read_table() -> tuple[Model, ...]:
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    return tuple(_model(row, table["sources"][row["source"]]) for row in table["models"])


def _model(row: dict[str, Any], source: dict[str, Any]) -> Model:
    latent = row.get("latent")
    return Model(
        title=row["title"],
        names=tuple(row["names"]),
        geometry=Geometry(
            num_layers=row["layers"],
            num_kv_heads=row["kv_heads"],
            head_dim=row["head_dim"],
            num_heads=row["num_heads"],
            v_head_dim=row.get("v_head_dim"),
            windowed_layers=row.get("windowed_layers", 0),
            window=row.get("window"),
            latent=None if latent is None else Latent(*latent),
        ),
        source=source["words"],
        is_verified=source["verified"],
        billions=row["billions"],
        note=row.get("note", ""),
    )


MODELS = _read_table()


def find_model(name: str) -> Model:
    """The model of this name, in whatever case; owner and endings such as "-Instruct" may be there.

    >>> find_model("meta-llama/Llama-3.1-8B-Instruct").title
    'Llama-3 / 3.1-8B'

    Raises ``PlanError`` with names that come close.
    """
    known = {short: model for model in MODELS for short in (*model.names, plain(model.title))}
    if len(name) <= LONGEST_NAME:
        for candidate in (plain(name), _without_ending(plain(name))):
            if candidate in known:
                return known[candidate]
    near = get_close_matches(plain(name[:LONGEST_NAME]), known, n=SUGGESTIONS, cutoff=0.5)
    hint = f"; near it: {', '.join(near)}" if near else ""
    raise PlanError(
        f"there is no model {shown(name)} in the table; name one of it, or give ",
        Named("layers"),
        ", ",
        Named("kv_heads"),
        " and ",
        Named("head_dim"),
        hint,
    )


def plain(name: str) -> str:
    """A name in small letters, without its owner, with hyphens for spaces."""
    last = name.strip().lower().rpartition("/")[2] if " / " not in name else name.strip().lower()
    return re.sub(r"[\s_]+", "-", last)


def _without_ending(name: str) -> str:
    return re.sub(r"(-(instruct|chat|it|hf|base|\d{4}))+$", "", name).removeprefix("meta-")
