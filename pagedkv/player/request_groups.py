"""Each request's own order: its logical blocks, and the input that is to come next."""

from typing import Any

from pagedkv.events import RequestForked, TableChanged
from pagedkv.player.news import news
from pagedkv.player.roster import Roster
from pagedkv.player.text import say
from pagedkv.trace.frame import Frame
from pagedkv.trace.state import RequestView
from pagedkv.trace.written import visible

Data = dict[str, Any]

PROMPT_SHOWN = 12


def group_data(request: RequestView, frame: Frame, roster: Roster) -> Data:
    """Describe one request: its prompt, its counts, a row per logical block, its next input."""
    changed = _changed_entries(request, frame)
    written = _written_positions(request, frame)
    return {
        "r": roster.index(request.name),
        "prompt": _shortened(visible("".join(request.tokens[: request.prompt_length]))),
        "count": _count(request),
        "rows": [
            {
                "b": block_id,
                "changed": logical in changed,
                "label": say("entry", request=request.name, logical=logical, block=block_id),
                "cells": _cells(request, logical, written, frame),
            }
            for logical, block_id in enumerate(request.block_table)
        ],
        "pending": None if request.pending_token is None else visible(request.pending_token),
    }


def _shortened(text: str) -> str:
    return text if len(text) <= PROMPT_SHOWN else text[: PROMPT_SHOWN - 1] + "…"


def _count(request: RequestView) -> str:
    if request.num_stored == request.num_tokens:
        return say("stored_of", stored=request.num_stored)
    return say("stored_of_more", stored=request.num_stored, tokens=request.num_tokens)


def _changed_entries(request: RequestView, frame: Frame) -> set[int]:
    """Find the table entries that this frame added or pointed elsewhere."""
    changed = {
        event.logical_block
        for event in news(frame)
        if isinstance(event, TableChanged) and event.request == request.name
    }
    forked = any(isinstance(e, RequestForked) and e.child == request.name for e in news(frame))
    return set(range(len(request.block_table))) if forked else changed


def _written_positions(request: RequestView, frame: Frame) -> set[int]:
    return {
        slot.position
        for block_id in request.block_table
        for slot in frame.state.blocks[block_id].slots
        if slot.written_now and request.name in slot.owners and slot.position is not None
    }


def _cells(request: RequestView, logical: int, written: set[int], frame: Frame) -> list[Data]:
    block_size = len(frame.state.blocks[request.block_table[logical]].slots)
    first = logical * block_size
    return [_cell(request, position, written) for position in range(first, first + block_size)]


def _cell(request: RequestView, position: int, written: set[int]) -> Data:
    data: Data = {"s": "stored" if position < request.num_stored else "empty", "p": position}
    if position < request.num_tokens:
        data["c"] = visible(request.tokens[position])
    if position in written:
        data["n"] = 1
    return data
