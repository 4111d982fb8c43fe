"""The attention strip: each request's last query, its weights beside the dense ones."""

from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import Any

import numpy as np

from pagedkv.player.roster import Roster
from pagedkv.player.text import say, say_count
from pagedkv.trace.first_look import last_queries
from pagedkv.trace.frame import AttentionView, Doubles, Floats, Frame
from pagedkv.trace.written import small

Data = dict[str, Any]

WEIGHT_DIGITS = 4


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
