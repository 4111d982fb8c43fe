"""A workload: when each request comes, how long its prompt is, and how long its answer will be."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


class WorkloadError(ValueError):
    """A workload, or what is to be done with it, cannot be; the message says what would do."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request: ``num_inputs`` tokens of prompt, ``num_outputs`` tokens in each answer.

    ``arrival`` is in seconds from the first request; ``number`` counts from 0 by arrival.
    """

    number: int
    arrival: float
    num_inputs: int
    num_outputs: int

    @property
    def num_positions(self) -> int:
        """Slots that prompt and answer fill: the last output is never processed as an input."""
        return self.num_inputs + self.num_outputs - 1

    @property
    def num_tokens(self) -> int:
        """Prompt and answer together, as a model's maximum length counts them."""
        return self.num_inputs + self.num_outputs


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Requests by arrival, as three arrays [requests]: float64 seconds, and int64 tokens twice.

    ``is_saturated`` says that all of them wait from the beginning. Nobody changes the arrays. A
    workload is equal to itself only. Raises ``WorkloadError`` if there is no request.
    """

    name: str
    arrivals: NDArray[np.float64]
    inputs: NDArray[np.int64]
    outputs: NDArray[np.int64]

    def __post_init__(self) -> None:
        if not len(self.arrivals):
            raise WorkloadError(f"{self.name} has no request; at least one is needed")

    def __len__(self) -> int:
        return len(self.arrivals)

    def __iter__(self) -> Iterator[Request]:
        columns = (self.arrivals.tolist(), self.inputs.tolist(), self.outputs.tolist())
        for number, (arrival, inputs, outputs) in enumerate(zip(*columns, strict=True)):
            yield Request(number, arrival, inputs, outputs)

    @property
    def is_saturated(self) -> bool:
        """Whether all requests are there from the beginning, so that memory is never idle."""
        return not self.arrivals.any()

    @property
    def longest(self) -> int:
        """The most tokens of prompt and answer together."""
        return int((self.inputs + self.outputs).max())

    @property
    def mean_input(self) -> float:
        """Tokens of a prompt, on average."""
        return float(self.inputs.mean())

    @property
    def mean_output(self) -> float:
        """Tokens of an answer, on average."""
        return float(self.outputs.mean())

    def first(self, count: int) -> "Workload":
        """The first ``count`` requests by arrival, or all where there are fewer."""
        return Workload(self.name, self.arrivals[:count], self.inputs[:count], self.outputs[:count])

    def all_at_once(self) -> "Workload":
        """The same requests in the same order, all waiting from the beginning."""
        return Workload(self.name, np.zeros_like(self.arrivals), self.inputs, self.outputs)
