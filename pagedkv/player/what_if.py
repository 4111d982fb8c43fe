"""A supposition on its strip: its slots by block, who wants them, where it goes wrong."""

from itertools import groupby
from typing import Any

from pagedkv.player.captions import CaptionReader
from pagedkv.player.roster import Roster
from pagedkv.trace.frame import Frame, WhatIfCell
from pagedkv.trace.written import visible

Data = dict[str, Any]


def what_if_data(frame: Frame, roster: Roster, reader: CaptionReader) -> Data | None:
    """Describe a supposition: its slots by block, who wants them, where it goes wrong."""
    view = frame.what_if
    if view is None:
        return None
    groups = groupby(view.cells, key=lambda cell: cell.block_label)
    return {
        "r": roster.index(view.request),
        "title": view.title,
        "text": reader.runs(view.text, frame.state),
        "blocks": [
            {"label": label, "cells": [_what_if_cell(cell, roster) for cell in cells]}
            for label, cells in groups
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
