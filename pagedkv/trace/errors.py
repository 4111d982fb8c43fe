"""Errors against the dense reference: the worst of several, and how large one may be."""

from collections.abc import Iterable

import numpy as np

DENSE_TOLERANCE = 1e-5


def worst(errors: Iterable[float]) -> float:
    """Return the largest error, NaN if one of them is NaN (``max`` may pass over it), 0 of none.

    >>> worst([1e-7, float("nan")]), worst([])
    (nan, 0.0)
    """
    return float(np.max([*errors], initial=0.0))


def agree(errors: Iterable[float]) -> bool:
    """Whether all errors are small enough to speak of equality; NaN is not.

    >>> agree([0.0, 1e-7]), agree([0.2]), agree([float("nan")])
    (True, False, False)
    """
    return worst(errors) <= DENSE_TOLERANCE
