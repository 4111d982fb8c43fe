"""What stands beside the board: the caption in runs, the ledger, the check, the execution."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from pagedkv.player.roster import Roster
from pagedkv.player.text import say, say_count
from pagedkv.settings import Settings
from pagedkv.terms import find_term, spellings
from pagedkv.trace.frame import Check, ExecutionView, Frame
from pagedkv.trace.state import State

Data = dict[str, Any]


# --- captions ----------------------------------------------------------------------------------


class CaptionReader:
    """Cuts running text into runs: plain text, things on the board, terms not yet explained.

    One reader goes through a lesson's captions in order, so that a term is marked where it first
    appears and nowhere else.
    """

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._pattern = _caption_pattern(roster.names)
        self._explained: set[str] = set()

    def runs(self, text: str, state: State) -> list[str | Data]:
        """Return ``text`` in order: strings, and dicts with ``t`` (text) and what it points to."""
        runs: list[str | Data] = []
        end = 0
        speaker: str | None = None
        for match in self._pattern.finditer(text):
            run = self._run(match, state, speaker)
            if match.lastgroup == "request":
                speaker = match.group()
            if run is not None:
                runs += [text[end : match.start()], run]
                end = match.end()
        runs.append(text[end:])
        return [run for run in runs if run != ""]

    def _run(self, match: re.Match[str], state: State, speaker: str | None) -> Data | None:
        word = match.group()
        if match.lastgroup == "block":
            return {"t": word, "block": int(word[1:])}
        if match.lastgroup == "request":
            return {"t": word, "request": self._roster.index(word)}
        if match.lastgroup == "logical":
            return self._entries(word, state, speaker)
        return self._term(word)

    def _entries(self, word: str, state: State, speaker: str | None) -> Data | None:
        logical = int(word[1:])
        owners = [r.name for r in state.requests if logical < len(r.block_table)]
        if speaker in owners:
            owners = [speaker]
        if not owners:
            return None
        return {"t": word, "entries": [[self._roster.index(name), logical] for name in owners]}

    def _term(self, word: str) -> Data | None:
        term = find_term(word)
        if term.name in self._explained:
            return None
        self._explained.add(term.name)
        return {"t": word, "term": term.name}


@cache
def _caption_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Whole words only; a request's name counts in exact case, a term in any."""
    parts = [r"(?P<block>\bP\d+\b)", r"(?P<logical>\bL\d+\b)"]
    if names:
        parts.append(rf"(?P<request>(?<!\w)(?:{_alternatives(names)})(?!\w))")
    parts.append(rf"(?P<term>(?i:(?<![\w-])(?:{_alternatives(spellings())})(?![\w-])))")
    return re.compile("|".join(parts))


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w)))


# --- ledger ------------------------------------------------------------------------------------


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


# --- check and execution -----------------------------------------------------------------------


def check_data(check: Check | None, roster: Roster) -> Data | None:
    """Describe what was asked before memory was given, and the answer."""
    if check is None:
        return None
    steps = [say_count("check_inputs", check.num_inputs)]
    if check.copies:
        steps.append(say("check_shared"))
    elif check.empty_in_last_block:
        steps.append(say_count("check_fit", min(check.empty_in_last_block, check.num_inputs)))
    steps += [say_count("check_needs", check.needed), say("check_free", count=check.free)]
    return {
        "r": roster.index(check.request),
        "title": say("check", request=check.request),
        "steps": steps,
        "fits": check.fits,
        "verdict": say("check_yes" if check.fits else "check_no"),
    }


def execution_data(execution: ExecutionView | None, roster: Roster) -> Data | None:
    """Describe one execution: inputs of each request, their sum, the budget."""
    if execution is None:
        return None
    within = execution.num_tokens <= execution.token_budget
    return {
        "title": say("execution"),
        "parts": [[roster.index(count.request), count.num_tokens] for count in execution.inputs],
        "total": [execution.num_tokens, say_count("inputs", execution.num_tokens)],
        "within": within,
        "budget": say("budget_ok" if within else "budget_over", budget=execution.token_budget),
    }
