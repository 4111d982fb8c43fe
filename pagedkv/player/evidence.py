"""The proofs under the board: attention, look-ups, a worked score, a comparison, a what-if."""

from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import Any

import numpy as np

from pagedkv.player.roster import Roster
from pagedkv.player.story import CaptionReader
from pagedkv.player.text import figure, say, say_count
from pagedkv.trace.first_look import last_queries
from pagedkv.trace.frame import (
    AttentionView,
    Comparison,
    Doubles,
    Floats,
    Frame,
    LookupView,
    WhatIfCell,
    WorkedScore,
)
from pagedkv.trace.written import small, visible

Data = dict[str, Any]

WEIGHT_DIGITS = 4


# --- attention ---------------------------------------------------------------------------------


def attention_data(frame: Frame, roster: Roster) -> list[Data] | None:
    """Describe each request's last query of this frame, in every layer; None if none attended."""
    if not frame.attention:
        return None
    views = last_queries(frame.attention)
    return [
        _query_data(sorted(layers, key=lambda view: view.layer), roster)
        for _, layers in groupby(views, key=lambda view: view.request)
    ]


def _query_data(layers: Sequence[AttentionView], roster: Roster) -> Data:
    view = layers[0]
    runs = _runs(view)
    blocks = say_count("block_count", len(runs))
    return {
        "r": roster.index(view.request),
        "q": view.query_position,
        "n": view.context_length,
        "runs": runs,
        "reads": say_count("reads", view.context_length, blocks=blocks),
        "skipped": _skipped(view),
        "layers": [_layer(layer) for layer in layers],
    }


def _runs(view: AttentionView) -> list[list[int]]:
    """Return [block, number of positions] in logical order."""
    starts = accumulate(view.positions_per_block, initial=0)
    return [
        [view.block_ids[start], count]
        for start, count in zip(starts, view.positions_per_block, strict=False)
    ]


def _skipped(view: AttentionView) -> str:
    what = [f"P{block}" for block in view.skipped_blocks]
    if view.skipped_slots:
        what.append(say_count("not_read_slots", view.skipped_slots))
    return say("not_read", what=", ".join(what)) if what else ""


def _layer(view: AttentionView) -> Data:
    weights, output = small(view.max_abs_error_weights), small(view.max_abs_error_output)
    paged, dense = rounded(view.paged), rounded(view.dense)
    return {
        "layer": view.layer,
        "paged": paged,
        # Nearly always equal when rounded, and then sent once.
        "dense": None if dense == paged else dense,
        "sums": [say("sums", sum=f"{total:.3f}") for total in view.paged.sum(axis=-1)],
        "error": say("errors", weights=weights, output=output),
    }


def rounded(values: Floats | Doubles) -> list[Any]:
    """Return nested lists of floats, short enough to send and exact enough to draw.

    What is no number, as a broken cache may give, is None: JSON has no NaN.
    """
    short = np.round(values.astype(np.float64), WEIGHT_DIGITS).astype(object)
    short[~np.isfinite(values)] = None
    return short.tolist()  # type: ignore[no-any-return]


# --- look-up -----------------------------------------------------------------------------------


def lookup_data(lookups: Sequence[LookupView] | None, roster: Roster) -> list[Data] | None:
    """Describe where each stored position lies; the browser writes the arithmetic of one."""
    if lookups is None:
        return None
    return [
        {
            "r": roster.index(entry.request),
            "position": entry.position,
            "logical": entry.logical_block,
            "offset": entry.offset,
            "block": entry.block_id,
            "flat": entry.flat_slot,
            "k": small(entry.max_abs_error_k),
            "v": small(entry.max_abs_error_v),
            "same": entry.max_abs_error_k == 0 and entry.max_abs_error_v == 0,
        }
        for entry in lookups
    ]


# --- one weight, two prompts -------------------------------------------------------------------


def worked_data(worked: WorkedScore | None, roster: Roster) -> Data | None:
    """Write one weight out, line by line, from the dot product to the kernel's own number."""
    if worked is None:
        return None
    score, weight = figure(worked.score), figure(worked.weight)
    scale, denominator = figure(worked.scale), figure(worked.denominator)
    high = figure(worked.max_score)
    return {
        "title": say(
            "worked",
            request=worked.request,
            query=worked.query_position,
            key=worked.key_position,
        ),
        "where": say(
            "worked_where",
            layer=worked.layer,
            head=worked.head,
            block=worked.block_id,
            offset=worked.offset,
        ),
        "slot": [worked.block_id, worked.offset],
        "lines": [
            say("worked_dot", dot=figure(worked.dot)),
            say("worked_score", dot=figure(worked.dot), scale=scale, score=score),
            say("worked_softmax", score=score, max=high, denominator=denominator, weight=weight),
            say("worked_kernel", kernel=figure(worked.kernel_weight)),
        ],
        "note": say("worked_v", count=worked.query_position + 1),
        "layer": worked.layer,
        "head": worked.head,
        "r": roster.index(worked.request),
    }


def comparison_data(comparison: Comparison | None) -> Data | None:
    """Describe how far K and V of one character are apart after two beginnings, by layer."""
    if comparison is None:
        return None
    return {
        "title": say("comparison", token=visible(comparison.token), position=comparison.position),
        "position": comparison.position,
        "prompts": [[visible(token) for token in prompt] for prompt in comparison.prompts],
        "layers": [
            [layer.layer, small(layer.max_abs_k), small(layer.max_abs_v)]
            for layer in comparison.layers
        ],
    }


# --- what if -----------------------------------------------------------------------------------


def what_if_data(frame: Frame, roster: Roster, reader: CaptionReader) -> Data | None:
    """Describe a supposition: its slots by block, who wants them, where it goes wrong."""
    view = frame.what_if
    if view is None:
        return None
    groups = groupby(view.cells, key=lambda cell: cell.block_id)
    return {
        "r": roster.index(view.request),
        "title": view.title,
        "text": reader.runs(view.text, frame.state),
        "blocks": [
            {"id": block, "cells": [_what_if_cell(cell, roster) for cell in cells]}
            for block, cells in groups
        ],
    }


def _what_if_cell(cell: WhatIfCell, roster: Roster) -> Data:
    return {
        "offset": cell.offset,
        "s": cell.state,
        "o": roster.indices(cell.owners),
        "p": cell.position,
        "c": None if cell.token is None else visible(cell.token),
        "wanted": roster.indices(cell.wanted_by),
        "wantedPosition": cell.wanted_position,
        "wantedTokens": [visible(token) for token in cell.wanted_tokens],
        "wrong": cell.wrong,
    }
