"""The axes of an attention map: positions with their characters, and what pointing at a cell says.

Two axes each way: the first names a cell in full when pointed at, the second is seen. One alone
cannot do both, because Plotly takes the words on an axis' ticks for pointing, too.
"""

from html import escape
from typing import Any

from pagedkv.figures.attention_data import AttentionMap, Part
from pagedkv.figures.geometry import WIDTH, every, matrix_height
from pagedkv.figures.theme import TEXT_SIZE, Theme
from pagedkv.figures.words import WORDS, say
from pagedkv.trace.written import visible


def axes(attention: AttentionMap, part: Part, look: Theme) -> dict[str, Any]:
    """Return both pairs of axes; the first query is on top."""
    columns = {"range": [-0.5, len(attention.keys) - 0.5]}
    rows = {"range": [len(attention.queries) - 0.5, -0.5]}
    return {
        "xaxis": _silent(look) | columns | {"labelalias": _key_hovers(attention)},
        "yaxis": _silent(look) | rows | {"labelalias": _query_hovers(attention, part)},
        "xaxis2": _silent(look) | columns | _key_ticks(attention) | {"overlaying": "x"},
        "yaxis2": _silent(look) | rows | _query_ticks(attention) | {"overlaying": "y"},
    }


def _silent(look: Theme) -> dict[str, Any]:
    return {
        "showgrid": False,
        "zeroline": False,
        "showline": False,
        "showticklabels": False,
        "ticks": "",
        "fixedrange": True,
        "dtick": 1,
        "tickfont": {"color": look.ink},
    }


def _name(words: str) -> dict[str, Any]:
    return {"text": WORDS[words], "standoff": 8, "font": {"size": TEXT_SIZE}}


def _key_ticks(attention: AttentionMap) -> dict[str, Any]:
    keys = attention.keys
    labelled = every(len(keys), WIDTH, 20)
    return {
        "title": _name("key_axis"),
        "side": "bottom",
        "showticklabels": True,
        "tickvals": list(labelled),
        "ticktext": [f"{_character(keys[i].token)}<br>{keys[i].position}" for i in labelled],
    }


def _query_ticks(attention: AttentionMap) -> dict[str, Any]:
    queries = attention.queries
    labelled = every(len(queries), matrix_height(len(queries)), 19)
    return {
        "title": _name("query_axis"),
        "side": "left",
        "showticklabels": True,
        "ticklabelstandoff": 5,
        "tickvals": list(labelled),
        "ticktext": [
            say("query_label", position=queries[i].position, token=_character(queries[i].token))
            for i in labelled
        ],
    }


def _key_hovers(attention: AttentionMap) -> dict[str, str]:
    return {
        str(i): say(
            "key_hover",
            position=key.position,
            token=_character(key.token),
            logical_block=key.logical_block,
            block_id=key.block_id,
        )
        for i, key in enumerate(attention.keys)
    }


def _query_hovers(attention: AttentionMap, part: Part) -> dict[str, str]:
    sums = attention.row_sums("kernel" if part == "difference" else part)
    return {
        str(i): say(
            "query_hover",
            position=query.position,
            token=_character(query.token),
            frame=query.frame + 1,
            sum=total,
        )
        for i, (query, total) in enumerate(zip(attention.queries, sums, strict=True))
    }


def _character(token: str) -> str:
    """Write a character so that it is seen, and never taken for markup."""
    return escape(visible(token), quote=False)
