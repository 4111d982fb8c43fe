"""What several answers save by sharing their prompt: ours, and the paper's two ways of decoding."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import plotly.graph_objects as go

from pagedkv.figures.axes import ruled_axis
from pagedkv.figures.filling import filled
from pagedkv.figures.legend import legend_below_the_axis
from pagedkv.figures.theme import Theme, base_figure, theme
from pagedkv.trace.written import Phrases

if TYPE_CHECKING:  # a figure reads what was counted and knows nobody who counts
    from pagedkv.workloads.figure_data import Saving

HEIGHT = 400
MARGIN = {"l": 56, "r": 12, "t": 16, "b": 120}
HEADROOM = 1.15  # of the scale, above its highest value, for the number there

WORDS = Phrases(
    {
        "ours": "simulated",
        "sampling": "paper, parallel sampling",
        "beam": "paper, beam search (not simulated)",
        "x_axis": "answers to a prompt",
        "y_axis": "blocks saved, %",
        "hover": "%{{x}} answers<br>{name}: %{{y:.1f}} %<extra></extra>",
        "alt": "Blocks saved by sharing. {groups}",
        "alt_group": "{answers} answers: {ours:.1f} %.",
        "alt_sampling": "In the paper {sampling:.1f} % by sampling, {beam:.1f} % by beam search.",
    }
)


def savings_figure(groups: Sequence["Saving"], *, dark: bool = False) -> go.Figure:
    """Draw a group of bars for each number of answers; a value that is not printed is left out."""
    look = theme(dark)
    figure = base_figure(look, HEIGHT, MARGIN)
    for key in ("ours", "sampling", "beam"):
        if any(getattr(group, key) is not None for group in groups):
            figure.add_trace(_bars(key, groups, look))
    values = [v for g in groups for v in (g.ours, g.sampling, g.beam) if v is not None]
    figure.update_xaxes(ruled_axis(WORDS.say("x_axis"), look), type="category", showgrid=False)
    highest_shown = (max(values) or 1) * HEADROOM
    figure.update_yaxes(ruled_axis(WORDS.say("y_axis"), look), range=[0, highest_shown], nticks=6)
    legend = legend_below_the_axis(look, HEIGHT - MARGIN["t"] - MARGIN["b"])
    figure.update_layout(barmode="group", bargap=0.25, bargroupgap=0.06, legend=legend)
    return figure


def savings_alt(groups: Sequence["Saving"]) -> str:
    """Say every group in a sentence."""
    said = []
    for group in groups:
        said.append(WORDS.say("alt_group", answers=group.answers, ours=group.ours))
        if group.sampling is not None and group.beam is not None:
            values = {"sampling": group.sampling, "beam": group.beam}
            said.append(WORDS.say("alt_sampling", **values))
    return WORDS.say("alt", groups=" ".join(said))


def savings_table(groups: Sequence["Saving"]) -> pd.DataFrame:
    """List the groups; what the paper does not print stays empty."""
    return pd.DataFrame(
        {
            "answers": group.answers,
            "saved, %": round(group.ours, 2),
            "paper, parallel sampling, %": group.sampling,
            "paper, beam search, %": group.beam,
        }
        for group in groups
    )


def _bars(key: str, groups: Sequence["Saving"], look: Theme) -> go.Bar:
    name = WORDS.say(key)
    values = [getattr(group, key) for group in groups]
    colour, shape = {
        "ours": (look.stored, ""),
        "sampling": (look.empty, "/"),
        "beam": (look.empty, "."),
    }[key]
    return go.Bar(
        name=name,
        x=[str(group.answers) for group in groups],
        y=values,
        text=["" if value is None else f"{value:.1f}" for value in values],
        textposition="outside",
        textangle=0,
        cliponaxis=False,
        marker=filled(colour, shape, look),
        hovertemplate=WORDS.say("hover", name=name),
    )
