"""Workloads of our own making: lengths like ShareGPT's and Alpaca's, arrivals at once or by chance.

No data set is needed: lengths are drawn from gamma distributions with the means that the paper
prints (Kwon et al. 2023, figure 11) and a spread that makes its figure 2 come out. The same seed
always gives the same requests.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pagedkv.workloads.messages import any_of, cut
from pagedkv.workloads.ranges import HIGHEST_RATE, LEAST_RATE, require_measure, require_number
from pagedkv.workloads.workload import Workload, WorkloadError

MODEL_MAX_LENGTH = 2048  # tokens; OPT's
DEFAULT_REQUESTS = 4000  # enough to be set beside the paper
DEFAULT_SEED = 0


@dataclass(frozen=True, slots=True)
class Lengths:
    """Mean tokens and spread (standard deviation / mean) of prompts and of answers.

    ``longest_input`` cuts prompts; answers are cut where both reach ``MODEL_MAX_LENGTH``.
    """

    title: str
    mean_input: float
    spread_input: float
    longest_input: int
    mean_output: float
    spread_output: float


RECIPES: Mapping[str, Lengths] = MappingProxyType(
    {
        "sharegpt": Lengths("ShareGPT-like", 161.31, 1.3, 1024, 337.99, 0.88),
        "alpaca": Lengths("Alpaca-like", 19.31, 1.0, 1024, 58.45, 1.0),
    }
)


def make_workload(recipe: str, num_requests: int, seed: int, rate: float | None = None) -> Workload:
    """Draw ``num_requests`` requests by one of ``RECIPES``.

    They arrive by chance (a Poisson process) at ``rate`` requests a second, or all at once. Raises
    ``WorkloadError`` naming the first argument that is none of ``RECIPES`` or not in its range.
    """
    if recipe not in RECIPES:
        raise WorkloadError(f"recipe is {cut(recipe)}; it must be {any_of(tuple(RECIPES))}")
    require_number("requests", num_requests)
    require_number("seed", seed)
    if rate is not None:
        require_measure("rate", rate, LEAST_RATE, HIGHEST_RATE)
    lengths = RECIPES[recipe]
    rng = np.random.default_rng(seed)
    inputs = _gamma(rng, lengths.mean_input, lengths.spread_input, num_requests)
    inputs = np.minimum(inputs, lengths.longest_input)
    outputs = _gamma(rng, lengths.mean_output, lengths.spread_output, num_requests)
    outputs = np.minimum(outputs, MODEL_MAX_LENGTH - inputs)
    arrivals = np.zeros(num_requests)
    if rate is not None:
        arrivals = np.cumsum(rng.exponential(1 / rate, num_requests))
    return Workload(lengths.title, arrivals, inputs, outputs)


def _gamma(rng: np.random.Generator, mean: float, spread: float, count: int) -> NDArray[np.int64]:
    """Whole numbers of at least 1 from a gamma distribution [count]."""
    shape = spread**-2
    drawn = rng.gamma(shape, mean / shape, count)
    return np.maximum(np.rint(drawn), 1).astype(np.int64)
