"""The ledger: sums over blocks and slots that visibly hold, or visibly do not."""

from collections.abc import Sequence
from typing import Any

from pagedkv.player.text import say, say_count
from pagedkv.settings import Settings
from pagedkv.trace.frame import Frame

Data = dict[str, Any]


def ledger_data(frame: Frame, settings: Settings) -> list[Data]:
    """Return the sums of this frame, each ``{id, parts, sign, total}`` or ``{id, text}``.

    Parts and total are counted apart; the sign is "≠" where they do not agree.
    """
    totals = frame.state.totals
    sums = [
        _sum(
            "pool",
            [(totals.free_blocks, say("free_blocks")), (totals.blocks_in_use, say("in_use"))],
            (settings.num_blocks, say_count("blocks", settings.num_blocks)),
        ),
        _sum(
            "slots",
            [(totals.stored_slots, say("stored")), (totals.empty_slots, say("empty"))],
            (totals.allocated_slots, say_count("allocated", totals.allocated_slots)),
        ),
    ]
    if totals.table_entries > totals.blocks_in_use:
        sums.append(_sharing(totals.table_entries, totals.blocks_in_use))
    return sums + _unusable(settings)


def _sum(kind: str, parts: Sequence[tuple[int, str]], total: tuple[int, str]) -> Data:
    holds = sum(number for number, _ in parts) == total[0]
    return {
        "id": kind,
        "parts": [list(part) for part in parts],
        "sign": "=" if holds else "≠",
        "total": list(total),
    }


def _sharing(entries: int, blocks: int) -> Data:
    return {
        "id": "sharing",
        "parts": [[entries, say_count("entries", entries)]],
        "sign": "→",
        "total": [blocks, say_count("blocks", blocks)],
    }


def _unusable(settings: Settings) -> list[Data]:
    if not settings.unusable_slots:
        return []
    text = say("unusable", count=settings.unusable_slots, capacity=settings.capacity)
    return [{"id": "unusable", "text": text}]


def mark_changes(ledger: list[Data], before: list[Data] | None) -> list[Data]:
    """Add to each sum which of its numbers differ from the frame before (its last is the total)."""
    old = {entry["id"]: _numbers(entry) for entry in before or ()}
    for entry in ledger:
        numbers = _numbers(entry)
        was = old.get(entry["id"], numbers)
        entry["changed"] = [i for i, (a, b) in enumerate(zip(numbers, was, strict=True)) if a != b]
    return ledger


def _numbers(entry: Data) -> list[int]:
    if "text" in entry:
        return []
    return [*(part[0] for part in entry["parts"]), entry["total"][0]]
