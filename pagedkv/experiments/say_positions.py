"""Positions in words, runs of them in short."""

from collections.abc import Iterable

from pagedkv.narration import join


def say_positions(positions: Iterable[int]) -> str:
    """Name positions, given in ascending order.

    >>> say_positions([7]), say_positions([3, 7, 8]), say_positions(range(13))
    ('position 7', 'positions 3, 7 and 8', 'positions 0 to 12')
    """
    runs: list[list[int]] = []
    for position in positions:
        if runs and position == runs[-1][-1] + 1:
            runs[-1].append(position)
        else:
            runs.append([position])
    words = [word for run in runs for word in _words(run)]
    is_one = len(runs) == 1 and len(runs[0]) == 1
    return f"{'position' if is_one else 'positions'} {join(words)}"


def _words(run: list[int]) -> list[str]:
    """Two neighbours are named, more are "first to last"."""
    return [str(p) for p in run] if len(run) < 3 else [f"{run[0]} to {run[-1]}"]
