"""Which layer and head to show first: a weight of nearly 1 on one position teaches little."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from pagedkv.trace.frame import AttentionView, Frame, Trace

Weights = npt.NDArray[np.floating]  # [num_heads, context_length], each row sums to 1


def first_look(trace: Trace) -> tuple[int, int]:
    """Return the (layer, head) of the lesson's worked score, else those that spread attention most.

    Only each request's last query of a frame counts: it is the one that a strip shows. Where nobody
    attends it is the first head of the first layer that is watched.
    """
    look = FirstLook()
    for frame in trace.frames:
        look.learn(frame)
    return look.choice(trace.layers)


class FirstLook:
    """The same, frame by frame, for a trace that grows."""

    def __init__(self) -> None:
        self._worked: tuple[int, int] | None = None
        self._least: dict[tuple[int, int], float] = {}

    def copy(self) -> "FirstLook":
        """Another one that goes on from here by itself."""
        twin = FirstLook()
        twin._worked, twin._least = self._worked, dict(self._least)
        return twin

    def learn(self, frame: Frame) -> None:
        """Look at one frame more."""
        score = frame.worked_score
        if score is not None and self._worked is None:
            self._worked = score.layer, score.head
        _note_spread(self._least, last_queries(frame.attention))

    def choice(self, layers: Sequence[int]) -> tuple[int, int]:
        """Return the (layer, head) for what was seen so far; ``layers`` are the watched ones."""
        if self._worked is not None:
            return self._worked
        return _most_spread(self._least) if self._least else (min(layers, default=0), 0)


def last_queries(views: Sequence[AttentionView] | None) -> list[AttentionView]:
    """Return the views of each request's last query, one per layer, requests in their order."""
    by_request: dict[str, list[AttentionView]] = {}
    for view in views or ():
        by_request.setdefault(view.request, []).append(view)
    last = {name: max(v.query_position for v in own) for name, own in by_request.items()}
    return [v for name, own in by_request.items() for v in own if v.query_position == last[name]]


def most_spread_head(views: Iterable[AttentionView]) -> tuple[int, int]:
    """Return the (layer, head) whose least spread query spreads its attention most.

    Raises ValueError where there is no query to choose by.
    """
    least: dict[tuple[int, int], float] = {}
    _note_spread(least, views)
    return _most_spread(least)


def _note_spread(least: dict[tuple[int, int], float], views: Iterable[AttentionView]) -> None:
    """Note how much the least spread query of each (layer, head) spreads its attention."""
    for view in views:
        for head, value in enumerate(spread(view.paged)):
            place = (view.layer, head)
            least[place] = min(least.get(place, 1.0), float(value))


def _most_spread(least: dict[tuple[int, int], float]) -> tuple[int, int]:
    return max(least, key=lambda place: least[place])


def spread(weights: Weights) -> Weights:
    """Return each head's entropy as a share of the largest possible, from 0 to 1; [num_heads].

    Shannon's entropy, -sum(w ln w) / ln n: 1 where all positions weigh the same, 0 where one has it
    all, and 0 for a context of one position.
    """
    context_length = weights.shape[-1]
    if context_length < 2:
        return np.zeros(len(weights))
    logs = np.log(np.where(weights > 0, weights, 1.0))  # 0 ln 0 = 0
    entropy: Weights = -(weights * logs).sum(axis=-1) / np.log(context_length)
    return entropy
