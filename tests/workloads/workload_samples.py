"""Small workloads, drawn and hand-made, and a simulation that is looked at after every turn."""

from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

from pagedkv.workloads import Setup, Simulation, Workload
from pagedkv.workloads.usage import Usage


def workload_of(*rows: tuple[float, int, int]) -> Workload:
    """Requests as (arrival in seconds, inputs, outputs)."""
    arrivals, inputs, outputs = zip(*rows, strict=True)
    return Workload("sample", np.array(arrivals, float), np.array(inputs), np.array(outputs))


@st.composite
def workloads(draw: st.DrawFn, longest: int = 30, most: int = 12) -> Workload:
    """A few short requests, all at once or spread over some iterations of 45 ms."""
    tokens = st.integers(1, longest)
    gap = st.sampled_from([0.0, 0.01, 0.045, 0.3, 2.0])
    rows = draw(st.lists(st.tuples(gap, tokens, tokens), min_size=1, max_size=most))
    arrivals = np.cumsum([gap for gap, _, _ in rows]) if draw(st.booleans()) else [0.0] * len(rows)
    return workload_of(*((at, i, o) for at, (_, i, o) in zip(arrivals, rows, strict=True)))


def turns(workload: Workload, setup: Setup) -> Iterator[tuple[Simulation, Usage | None]]:
    """The simulation after each turn, to its end."""
    simulation = Simulation(workload, setup)
    while not simulation.is_done:
        usage = simulation.advance()
        yield simulation, usage
