"""Where lines, hatching and labels go: plain numbers, no Plotly.

Cells are unit squares around whole numbers: column ``c`` reaches from ``c - 0.5`` to ``c + 0.5``.
"""

from collections.abc import Sequence
from math import ceil

from pagedkv.figures.attention_data import AttentionMap, BlockSpan

WIDTH = 300  # pixels of a matrix or panel at the narrowest that figures are made for
ROW_HEIGHT = 36
TALLEST = 324  # pixels of a matrix

Outline = tuple[list[float | None], list[float | None]]  # x and y; None ends one closed piece


def every(count: int, room: float, needed: float) -> range:
    """Return the indices below ``count`` to label, if ``room`` pixels hold labels of ``needed``.

    >>> list(every(9, 90, 20))
    [0, 2, 4, 6, 8]
    """
    if count == 0:
        return range(0)
    return range(0, count, max(1, ceil(needed * count / room)))


def ticks(top: int, unit: int, most: int = 7) -> list[int]:
    """Return 0, ``step``, twice ``step``... up to ``top``, at most ``most`` of them, and ``top``.

    ``step`` is ``unit``, doubled as often as need be. ``top`` is left out where the last step comes
    too close to it.

    >>> ticks(24, 4), ticks(24, 3), ticks(23, 4), ticks(4, 32)
    ([0, 4, 8, 12, 16, 20, 24], [0, 6, 12, 18, 24], [0, 4, 8, 12, 16, 20, 23], [0, 4])
    """
    step = unit
    while top // step + 1 > most:
        step *= 2
    steps = list(range(0, top + 1, step))
    room = (top - steps[-1]) / max(top, 1)
    return [*steps, top] if room > 0.08 else steps


def matrix_height(num_rows: int) -> int:
    """Return the pixels of a matrix: rows at full height while there is room."""
    return min(ROW_HEIGHT * num_rows, TALLEST)


def masked_outline(attention: AttentionMap) -> Outline:
    """Rectangles over the cells of each row that lie after its query, where there are any."""
    x: list[float | None] = []
    y: list[float | None] = []
    end = len(attention.keys) - 0.5
    for row, query in enumerate(attention.queries):
        start = query.context_length - 0.5
        if start < end:
            x += [start, end, end, start, start, None]
            y += [row - 0.5, row - 0.5, row + 0.5, row + 0.5, row - 0.5, None]
    return x, y


def block_edges(spans: Sequence[BlockSpan], num_rows: int) -> Outline:
    """Vertical lines between the blocks, over all rows."""
    x: list[float | None] = []
    y: list[float | None] = []
    for span in spans[1:]:
        x += [span.first - 0.5, span.first - 0.5, None]
        y += [-0.5, num_rows - 0.5, None]
    return x, y
