"""How many requests run at a time: a line for each policy, and the paper's mean across it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import plotly.graph_objects as go

from pagedkv.figures.axes import ruled_axis
from pagedkv.figures.legend import legend_below_the_axis
from pagedkv.figures.theme import OKABE_ITO, base_figure, name_once, theme
from pagedkv.trace.written import Phrases

if TYPE_CHECKING:  # a figure reads what was counted and knows nobody who counts
    from pagedkv.workloads.figure_data import BatchLine

HEIGHT = 430
MARGIN = {"l": 56, "r": 12, "t": 16, "b": 164}
HEADROOM = 1.06  # of the scale, above its highest value
LOOKS = {  # policy -> colour, dash
    "max": (OKABE_ITO[5], "dot"),
    "pow2": (OKABE_ITO[1], "dashdot"),
    "oracle": (OKABE_ITO[3], "dash"),
    "paged": (OKABE_ITO[0], "solid"),
}
DARK_PAGED = OKABE_ITO[4]

WORDS = Phrases(
    {
        "line": "{name}: mean {mean:,.2f}",
        "line_nobody": "{name}: nobody ran",
        "line_paper": "{name}: mean {mean:,.2f}, in the paper {paper:,.2f}",
        "paper": "{name} in the paper: mean {mean:,.2f}",
        "legend_paper": "thin: mean in the paper",
        "x_axis": "iteration",
        "y_axis": "requests in a batch",
        "hover": "{name}: %{{y:,.1f}}<extra>from iteration %{{x:,}}</extra>",
        "alt": "Requests in a batch, over iterations; means are over those in which somebody runs. "
        "{lines}",
        "alt_line": "{name}: mean {mean:,.2f}, the curve reaches {most:,.1f}.",
        "alt_nobody": "{name}: nobody ran.",
        "alt_paper": "In the paper {mean:,.2f}.",
    }
)


def batches_figure(lines: Sequence["BatchLine"], *, dark: bool = False) -> go.Figure:
    """Draw a stepped line for each policy; the paper's means are thin and as long as the axis."""
    look = theme(dark)
    figure = base_figure(look, HEIGHT, MARGIN)
    last = max((line.points[-1][0] for line in lines if line.points), default=0)
    for line in lines:
        figure.add_trace(_line(line, dark))
    for line in lines:
        if line.paper is not None:
            figure.add_trace(_paper(line, last, dark))
    highest = [value for line in lines for _, value in line.points]
    top = max([*highest, *(line.paper or 0.0 for line in lines)], default=0.0)
    figure.update_xaxes(ruled_axis(WORDS.say("x_axis"), look), range=[0, last or 1], nticks=6)
    figure.update_xaxes(showgrid=False, tickformat="~s")
    highest_shown = (top or 1) * HEADROOM
    figure.update_yaxes(ruled_axis(WORDS.say("y_axis"), look), range=[0, highest_shown], nticks=6)
    name_once(figure)
    figure.update_layout(legend=legend_below_the_axis(look, HEIGHT - MARGIN["t"] - MARGIN["b"]))
    return figure


def batches_alt(lines: Sequence["BatchLine"]) -> str:
    """Say each line's mean and maximum, or that nobody ran."""
    said = []
    for line in lines:
        most = max((value for _, value in line.points), default=0.0)
        key = "alt_line" if line.mean else "alt_nobody"
        said.append(WORDS.say(key, name=line.name, mean=line.mean, most=most))
        if line.paper is not None:
            said.append(WORDS.say("alt_paper", mean=line.paper))
    return WORDS.say("alt", lines=" ".join(said))


def batches_table(lines: Sequence["BatchLine"]) -> pd.DataFrame:
    """List every stretch of every line."""
    return pd.DataFrame(
        {"policy": line.name, "from iteration": start, "requests in a batch": round(value, 2)}
        for line in lines
        for start, value in line.points
    )


def _look(policy: str, dark: bool) -> tuple[str, str]:
    """The colour and the dash of a policy's curve."""
    colour, dash = LOOKS[policy]
    return (DARK_PAGED if dark and policy == "paged" else colour), dash


def _line(line: "BatchLine", dark: bool) -> go.Scatter:
    colour, dash = _look(line.policy, dark)
    key = "line" if line.paper is None else "line_paper"
    if not line.mean:
        key = "line_nobody"
    return go.Scatter(
        name=WORDS.say(key, name=line.name, mean=line.mean, paper=line.paper),
        x=[start for start, _ in line.points],
        y=[value for _, value in line.points],
        mode="lines",
        line={"color": colour, "width": 2.5, "dash": dash, "shape": "hv"},
        hovertemplate=WORDS.say("hover", name=line.name),
    )


def _paper(line: "BatchLine", last: int, dark: bool) -> go.Scatter:
    """A thin line of the policy's colour across the figure; one entry in the legend for all."""
    colour, _ = _look(line.policy, dark)
    name = WORDS.say("paper", name=line.name, mean=line.paper)
    return go.Scatter(
        name=WORDS.say("legend_paper"),
        x=[0, last],
        y=[line.paper] * 2,
        mode="lines",
        line={"color": colour, "width": 1.5, "dash": "longdash"},
        hovertemplate=f"{name}<extra></extra>",
    )
