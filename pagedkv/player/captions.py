"""Captions in runs: plain text, things on the board, terms where they first appear."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from pagedkv.player.roster import Roster
from pagedkv.terms import find_term, spellings
from pagedkv.trace.state import State

Data = dict[str, Any]


class CaptionReader:
    """Cuts running text into runs: plain text, things on the board, terms not yet explained.

    One reader goes through a lesson's captions in order, so that a term is marked where it first
    appears and nowhere else.
    """

    def __init__(self, roster: Roster) -> None:
        self._explained: set[str] = set()
        self.meet(roster)

    def copy(self) -> "CaptionReader":
        """Another reader who goes on from here by itself."""
        twin = CaptionReader(self._roster)
        twin._explained = set(self._explained)
        return twin

    def meet(self, roster: Roster) -> None:
        """Know these requests from now on."""
        self._roster = roster
        self._pattern = _caption_pattern(roster.names)

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
