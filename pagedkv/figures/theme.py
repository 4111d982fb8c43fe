"""Colours, type and the empty figure that all pictures start from, in a light and a dark variant.

Requests have the Okabe-Ito colours, weights Cividis, differences a blue-white-vermilion scale: all
chosen so that people with any kind of colour vision tell them apart. No state is shown by colour
alone; patterns are the figures' own matter.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.colors import sample_colorscale, unlabel_rgb

from pagedkv.trace.participants import colour_number

TEXT_SIZE = 14
TITLE_SIZE = 17
FONT = "Source Sans, Source Sans Pro, system-ui, sans-serif"

CLEAR = "rgba(0,0,0,0)"

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
WEIGHT_SCALE = "Cividis"
DIFFERENCE_SCALE = [[0.0, "#0072B2"], [0.5, "#F7F7F7"], [1.0, "#D55E00"]]


@dataclass(frozen=True, slots=True)
class Theme:
    """What differs between light and dark. ``ink`` on ``paper`` has a contrast above 12:1."""

    paper: str
    ink: str
    muted: str  # secondary text, at least 4.5:1 on paper
    grid: str
    hatch: str
    stored: str
    empty: str
    accent: str


LIGHT = Theme(
    paper="#FFFFFF",
    ink="#1C2733",
    muted="#57606A",
    grid="#DDE2E8",
    hatch="#8A939E",
    stored="#3E4C5E",
    empty="#CBD4DF",
    accent="#A33B00",
)
DARK = Theme(
    paper="#12181F",
    ink="#E8EDF2",
    muted="#A9B3BF",
    grid="#2D3540",
    hatch="#7A8592",
    stored="#C3CEDB",
    empty="#38465A",
    accent="#FFB07A",
)


def theme(dark: bool) -> Theme:
    """Return the dark or the light variant."""
    return DARK if dark else LIGHT


def request_colour(names: tuple[str, ...], request: str) -> str:
    """Return the request's colour, by its place in ``names``."""
    return OKABE_ITO[colour_number(names, request)]


def base_figure(look: Theme, height: int, margin: dict[str, int]) -> go.Figure:
    """Return an empty figure ``height`` pixels high with the course's type and colours.

    The page shows through; it must be about as light or dark as ``look.paper``.
    """
    font = {"family": FONT, "size": TEXT_SIZE, "color": look.ink}
    return go.Figure(
        layout={
            "template": "none",
            "height": height,
            "margin": margin,
            "font": font,
            "paper_bgcolor": CLEAR,
            "plot_bgcolor": CLEAR,
            "hoverlabel": {"font": font, "bgcolor": look.paper, "bordercolor": look.ink},
            "dragmode": False,
        }
    )


def title(look: Theme, text: str, below: str = "") -> dict[str, object]:
    """Return a title at the left edge, with a smaller line below it."""
    small = f'<br><span style="font-size:{TEXT_SIZE}px;color:{look.muted}">{below}</span>'
    return {
        "text": f"<b>{text}</b>{small}",
        "font": {"size": TITLE_SIZE, "color": look.ink},
        "x": 0,
        "xref": "container",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"t": 30, "l": 12},  # the upper of two lines stands above the anchor
    }


def name_once(figure: go.Figure) -> None:
    """Leave one entry in the legend for whatever several panels show."""
    named: set[str] = set()
    for drawn in figure.data:
        drawn.showlegend = drawn.name not in named
        named.add(drawn.name)


def inks_on(scale: object, places: Iterable[float]) -> list[str]:
    """Return black or white for text on each place (0 to 1) of a colour scale.

    The better of the two always has a contrast of at least 4.5:1.
    """
    return [ink_on(unlabel_rgb(colour)) for colour in sample_colorscale(scale, list(places))]


def ink_on(rgb: tuple[float, float, float]) -> str:
    """Return whichever of black and white contrasts more with a colour (channels 0 to 255)."""
    light = luminance(rgb)
    return "#000000" if (light + 0.05) / 0.05 > 1.05 / (light + 0.05) else "#FFFFFF"


def luminance(rgb: tuple[float, float, float]) -> float:
    """Return the relative luminance of an sRGB colour as WCAG 2 defines it, 0 to 1."""
    shares = (channel / 255 for channel in rgb)
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
