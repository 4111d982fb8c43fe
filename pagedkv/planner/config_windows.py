"""Which layers of a `config.json` see a window only: from the file's list, or by its family's rule.

The rules are what transformers 5.24.0 does for older files, which have no ``layer_types``.
"""

from collections.abc import Mapping
from typing import Any

from pagedkv.planner.checking import PlanError, shown

FULL, SLIDING = "full_attention", "sliding_attention"

ALL_LAYERS = ("mistral", "mixtral", "phi3", "starcoder2")  # families whose window is on all layers
ONE_FULL_IN = {"gemma2": 2, "gpt_oss": 2, "gemma3": 6, "gemma3_text": 6, "cohere2": 4}
FIRST_FULL = ("qwen2", "qwen3")  # max_window_layers of them are full
UNLESS_SAID = "qwen"  # these families use no window unless they say so


def windowed_layers(fields: Mapping[str, Any], layers: int) -> tuple[int, int | None]:
    """How many layers see a window, and its size in positions; (0, None) if none does.

    Raises ``PlanError`` where the file does not say which.
    """
    kinds = fields.get("layer_types")
    count = None if kinds is None else _listed(kinds, layers)
    window = fields.get("sliding_window")
    if count == 0 or (count is None and (window is None or not _is_used(fields))):
        return 0, None
    if type(window) is not int or window < 1:
        raise PlanError(f"sliding_window is {shown(window)}; it must be a whole number above 0")
    if count is None:
        count = _by_family(fields, layers)
    return (count, window) if count else (0, None)


def _listed(kinds: object, layers: int) -> int:
    if not isinstance(kinds, list) or len(kinds) != layers:
        raise PlanError(f"layer_types is {shown(kinds)}; it must be a list of {layers} kinds")
    for kind in kinds:
        if kind not in (FULL, SLIDING):
            raise PlanError(
                f"layer_types has {shown(kind)}; counted here are {FULL} and {SLIDING} only"
            )
    return kinds.count(SLIDING)


def _is_used(fields: Mapping[str, Any]) -> bool:
    usual = not str(fields.get("model_type")).startswith(UNLESS_SAID)
    return fields.get("use_sliding_window", usual) is not False


def _by_family(fields: Mapping[str, Any], layers: int) -> int:
    family = fields.get("model_type")
    if isinstance(family, str):
        if family in ALL_LAYERS:
            return layers
        if family in ONE_FULL_IN:
            return layers - layers // _pattern(fields, ONE_FULL_IN[family])
        if family in FIRST_FULL:
            return layers - min(_first_full(fields), layers)
    raise PlanError(
        f"sliding_window is {shown(fields['sliding_window'])}, but not which layers have it; the "
        "file lacks layer_types"
    )


def _pattern(fields: Mapping[str, Any], usual: int) -> int:
    value = fields.get("sliding_window_pattern", usual)
    if type(value) is not int or value < 1:
        raise PlanError(
            f"sliding_window_pattern is {shown(value)}; it must be a whole number above 0"
        )
    return value


def _first_full(fields: Mapping[str, Any]) -> int:
    value = fields.get("max_window_layers", 28)
    if type(value) is not int or value < 0:
        raise PlanError(f"max_window_layers is {shown(value)}; it must be a whole number from 0 on")
    return value
