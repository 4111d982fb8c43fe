"""What would do where settings cannot show a lesson's point: changes of one setting that can.

A remedy is offered only because it was tried: in the lesson's own arithmetic, without an engine.
"""

from collections.abc import Callable
from dataclasses import replace

from pagedkv.narration import join
from pagedkv.settings import RANGES, Settings

# Whether a lesson can show its point: numbers of blocks and positions, and nothing else.
CanShow = Callable[[Settings], bool]

_WORDS = {"capacity": "capacity", "prompt_length": "prompt length", "block_size": "block size"}
# Where changes of both kinds would do, the one that leaves more room is the one to see.
_MORE_ROOM = {"capacity": 1, "prompt_length": -1, "block_size": -1}

_ONE_CHANGE = "{offers} would do."
_DEFAULTS = "No single change would do; {defaults} together would."


def what_would_do(settings: Settings, can_show: CanShow) -> str:
    """Say which change of one setting would help, or else that the defaults would.

    >>> what_would_do(Settings(capacity=8), lambda settings: settings.capacity >= 12)
    'Capacity 12 would do.'
    """
    nearest = {name: _nearest(settings, name, can_show) for name in _WORDS}
    offers = [f"{_WORDS[name]} {value}" for name, value in nearest.items() if value is not None]
    if offers:
        return _capitalised(_ONE_CHANGE.format(offers=join(offers, "or")))
    defaults = [f"{words} {getattr(Settings(), name)}" for name, words in _WORDS.items()]
    return _DEFAULTS.format(defaults=join(defaults))


def _nearest(settings: Settings, name: str, can_show: CanShow) -> int | None:
    """The nearest value of setting ``name`` that shows the point, if any; more room goes first."""
    now = getattr(settings, name)

    def less_room_and_distance(value: int) -> tuple[bool, int]:
        return (value - now) * _MORE_ROOM[name] < 0, abs(value - now)

    return next(
        (
            value
            for value in sorted(RANGES[name], key=less_room_and_distance)
            if can_show(replace(settings, **{name: value}))
        ),
        None,
    )


def _capitalised(text: str) -> str:
    return text[0].upper() + text[1:]
