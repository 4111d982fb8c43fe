"""Errors against the dense reference, taken together."""

from collections.abc import Iterable

import numpy as np


def worst(errors: Iterable[float]) -> float:
    """Return the largest error, NaN if one of them is NaN (``max`` may pass over it), 0 of none.

    >>> worst([1e-7, float("nan")]), worst([])
    (nan, 0.0)
    """
    return float(np.max([*errors], initial=0.0))
