"""Right and faulty attention weights beside each other: a small panel for each query head.

Plain arrays, no trace: for experiments that break a cache on purpose. Its words stand here.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pagedkv.figures.geometry import WIDTH, every
from pagedkv.figures.legend import legend_below_the_axis
from pagedkv.figures.theme import (
    CLEAR,
    OKABE_ITO,
    TEXT_SIZE,
    TITLE_SIZE,
    Theme,
    base_figure,
    name_once,
    theme,
)
from pagedkv.trace.written import Phrases, small, visible

Weights = npt.NDArray[np.floating]  # [num_heads, positions]
Mask = npt.NDArray[np.bool_]  # [num_heads, positions]

PANEL_HEIGHT = 96
BETWEEN = 36  # pixels between panels: a heading
AXIS_HEIGHT = 76  # pixels: labels of two lines and the axis's name
MARGIN = {"l": 44, "r": 8, "t": 34, "b": 132}
LABEL_WIDTH = 21  # pixels of a tick label of two digits
SHADING = 0.5  # to either side of a position

WORDS = Phrases(
    {
        "head": "query head {head}",
        "position_axis": "token and position",
        "right": "right",
        "faulty": "faulty",
        "nan": "faulty: NaN",
        "misread": "K or V misread",
        "hover": "{token} {position}<br>{name}: %{{y:.3f}}<extra>{head}</extra>",
        "nan_hover": "{token} {position}<br>{name}<extra>{head}</extra>",
        "alt": "Attention weights of {heads} over {positions}, right and faulty; K or V were "
        "misread at {misread} of them, by {misled}.",
        "alt_nothing": "Attention weights of {heads} over {positions}, right and faulty; nothing "
        "was misread.",
        "alt_furthest": "They are furthest apart in head {head} at position {position}: {right} "
        "is right and {faulty} is faulty, a difference of {difference}.",
        "alt_same": "No weight differs.",
        "alt_nan": "{nan} of {weights} faulty weights are NaN, and those that are numbers are at "
        "most {difference} apart, in head {head} at position {position}.",
        "alt_all_nan": "Every faulty weight is NaN.",
        "heads": "1 head|{count} heads",
        "positions": "1 position|{count} positions",
    }
)


def weights_beside_figure(
    right: Weights,
    faulty: Weights,
    tokens: Sequence[str],
    misread: Mask,
    *,
    dark: bool = False,
) -> go.Figure:
    """Draw both weights of each position as bars, head by head, all on a scale from 0 to 1.

    ``right`` and ``faulty`` are floats, ``misread`` is bool, all [num_heads, positions]; ``tokens``
    has a token for each position, empty where there is none. A position that a head misread is
    shaded in its panel. NaN has a cross instead of a bar. The figure brings its height with it.
    Raises ValueError where shapes do not fit.
    """
    _check(right, faulty, misread)
    if len(tokens) != right.shape[1]:
        raise ValueError(f"{len(tokens)} tokens for {right.shape[1]} positions")
    look, num_heads = theme(dark), len(right)
    inner = PANEL_HEIGHT * num_heads + BETWEEN * (num_heads - 1)
    figure = make_subplots(
        rows=num_heads,
        shared_xaxes=True,
        vertical_spacing=BETWEEN / inner,
        subplot_titles=[WORDS.say("head", head=head) for head in range(num_heads)],
        figure=base_figure(look, inner + MARGIN["t"] + MARGIN["b"], MARGIN),
    )
    for head in range(num_heads):
        drawn = _traces(head, right[head], faulty[head], tokens, look)
        figure.add_traces(drawn, rows=head + 1, cols=1)
    figure.add_trace(_key_to_shading(look), row=1, col=1)
    name_once(figure)
    figure.update_yaxes(_value_axis(look))
    figure.update_xaxes(_position_axis(tokens, misread, look))
    name = {"text": WORDS.say("position_axis"), "standoff": 8, "font": {"size": TEXT_SIZE}}
    figure.update_xaxes(title=name, row=num_heads, col=1)
    figure.update_annotations(x=0, xanchor="left", font={"size": TITLE_SIZE, "color": look.ink})
    shapes = [_shading(head, p, look) for head, p in np.argwhere(misread).tolist()]
    legend = legend_below_the_axis(look, inner, AXIS_HEIGHT)
    figure.update_layout(barmode="group", bargap=0.16, bargroupgap=0, shapes=shapes, legend=legend)
    return figure


def weights_beside_alt(right: Weights, faulty: Weights, misread: Mask) -> str:
    """Say in two sentences what is drawn, and where the weights are furthest apart.

    The arrays are those of ``weights_beside_figure``. Raises ValueError where shapes do not fit.
    """
    _check(right, faulty, misread)
    about = WORDS.say(
        "alt" if misread.any() else "alt_nothing",
        heads=WORDS.say_count("heads", len(right)),
        positions=WORDS.say_count("positions", right.shape[1]),
        misread=int(misread.any(axis=0).sum()),
        misled=WORDS.say_count("heads", int(misread.any(axis=1).sum())),
    )
    return f"{about} {_furthest_apart(right, faulty)}"


def _furthest_apart(right: Weights, faulty: Weights) -> str:
    apart = np.abs(faulty - right)
    num_nan = int(np.isnan(apart).sum())
    if num_nan == apart.size:
        return WORDS.say("alt_all_nan")
    head, position = np.unravel_index(np.nanargmax(apart), apart.shape)
    if num_nan == 0 and apart[head, position] == 0:
        return WORDS.say("alt_same")
    return WORDS.say(
        "alt_nan" if num_nan else "alt_furthest",
        head=head,
        position=position,
        right=small(float(right[head, position])),
        faulty=small(float(faulty[head, position])),
        difference=small(float(apart[head, position])),
        nan=num_nan,
        weights=apart.size,
    )


def _check(right: Weights, faulty: Weights, misread: Mask) -> None:
    shapes = [array.shape for array in (right, faulty, misread)]
    if len(shapes[0]) != 2 or len(set(shapes)) > 1:
        raise ValueError(f"{shapes} are the shapes; all must be the same [num_heads, positions]")


def _traces(
    head: int, right: Weights, faulty: Weights, tokens: Sequence[str], look: Theme
) -> list[go.Bar | go.Scatter]:
    """The bars of one head, and crosses where a faulty weight is NaN."""
    blue, vermilion = OKABE_ITO[0], OKABE_ITO[5]
    bars = [
        _bars("right", head, right, tokens, _filling(blue, look)),
        _bars(
            "faulty", head, faulty, tokens, _filling(vermilion, look) | _hatching(vermilion, look)
        ),
    ]
    nan = np.flatnonzero(np.isnan(faulty)).tolist()
    if not nan:
        return bars
    cross = {"symbol": "x", "size": 10, "color": vermilion, "line": {"color": look.ink, "width": 1}}
    crosses = go.Scatter(
        name=WORDS.say("nan"),
        x=nan,
        y=[0.06] * len(nan),  # a cross on the line would be cut in half
        mode="markers",
        marker=cross,
        hovertemplate=_hovers("nan_hover", "nan", head, [(p, tokens[p]) for p in nan]),
    )
    return [*bars, crosses]


def _bars(
    name: str, head: int, weights: Weights, tokens: Sequence[str], marker: dict[str, Any]
) -> go.Bar:
    return go.Bar(
        name=WORDS.say(name),
        x=list(range(len(weights))),
        y=[None if np.isnan(weight) else float(weight) for weight in weights],
        marker=marker,
        hovertemplate=_hovers("hover", name, head, list(enumerate(tokens))),
    )


def _hovers(key: str, name: str, head: int, places: Sequence[tuple[int, str]]) -> list[str]:
    in_head = WORDS.say("head", head=head)
    return [
        WORDS.say(
            key, token=_shown(token), position=position, name=WORDS.say(name), head=in_head
        ).strip()
        for position, token in places
    ]


def _filling(colour: str, look: Theme) -> dict[str, Any]:
    """An outline keeps a bar apart from the shading behind it."""
    return {"color": colour, "line": {"color": look.ink, "width": 1}}


def _hatching(colour: str, look: Theme) -> dict[str, Any]:
    """A pattern, so that right and faulty are told apart in grey as well."""
    return {"pattern": {"shape": "/", "fgcolor": look.paper, "bgcolor": colour, "size": 5}}


def _key_to_shading(look: Theme) -> go.Scatter:
    """An entry in the legend; shapes have none that every Plotly draws alike."""
    marker = {"symbol": "square", "size": 14, "color": look.empty, "line": {"width": 0}}
    name = WORDS.say("misread")
    return go.Scatter(name=name, x=[None], y=[None], mode="markers", marker=marker)


def _shading(head: int, position: int, look: Theme) -> dict[str, Any]:
    """A ground for one position in one panel, behind its bars."""
    axis = "" if head == 0 else str(head + 1)
    return {
        "type": "rect",
        "xref": f"x{axis}",
        "yref": f"y{axis} domain",
        "x0": position - SHADING,
        "x1": position + SHADING,
        "y0": 0,
        "y1": 1,
        "fillcolor": look.empty,
        "line": {"color": CLEAR, "width": 0},
        "layer": "below",
    }


def _value_axis(look: Theme) -> dict[str, Any]:
    """Weights lie between 0 and 1, whatever the fault."""
    return {
        "range": [0, 1.04],
        "tickvals": [0, 0.5, 1],
        "gridcolor": look.grid,
        "zeroline": True,
        "zerolinecolor": look.hatch,
        "fixedrange": True,
    }


def _position_axis(tokens: Sequence[str], misread: Mask, look: Theme) -> dict[str, Any]:
    """Token over position, in bold where any head misread it; all of them as long as they fit."""
    labelled = every(len(tokens), WIDTH, LABEL_WIDTH)
    bold = set(np.argwhere(misread)[:, 1].tolist())
    return {
        "range": [-0.5, max(len(tokens), 1) - 0.5],
        "tickvals": list(labelled),
        "ticktext": [_label(p, tokens[p], p in bold) for p in labelled],
        "tickangle": 0,
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
    }


def _label(position: int, token: str, is_misread: bool) -> str:
    label = f"{_shown(token)}<br>{position}"
    return f"<b>{label}</b>" if is_misread else label


def _shown(token: str) -> str:
    """A token that white space cannot hide and nobody takes for markup."""
    return escape(visible(token), quote=False)
