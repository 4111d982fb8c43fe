"""Which numbers can be simulated, and how others are refused."""

from collections.abc import Mapping
from types import MappingProxyType

from pagedkv.checks import is_whole_number
from pagedkv.workloads.messages import cut
from pagedkv.workloads.workload import WorkloadError

MOST_TOKENS = 10_000_000  # of a prompt, and as many of its answer

RANGES: Mapping[str, range] = MappingProxyType(
    {
        "requests": range(1, 1_000_001),
        "block_size": range(1, 4097),
        "slots": range(1, 100_000_001),
        "answers": range(1, 65),
        "seed": range(2**31),
        "max_length": range(2, 2 * MOST_TOKENS + 1),  # so that no request is too long for a model
    }
)
LEAST_RATE, HIGHEST_RATE = 0.001, 10_000.0  # requests a second
SHORTEST_ITERATION, LONGEST_ITERATION = 0.01, 100_000.0  # milliseconds


def require_number(name: str, value: object) -> None:
    """Raise ``WorkloadError`` unless ``RANGES`` has this whole number."""
    allowed = RANGES[name]
    if not is_whole_number(value) or value not in allowed:
        reach = f"from {allowed[0]:,} to {allowed[-1]:,}"
        raise WorkloadError(f"{name} is {cut(value)}; it must be a whole number {reach}")


def require_measure(name: str, value: object, least: float, most: float) -> None:
    """Raise ``WorkloadError`` unless ``value`` is a number from ``least`` to ``most``."""
    is_bool = isinstance(value, bool)  # which Python counts among the whole numbers
    if isinstance(value, int | float) and not is_bool and least <= value <= most:  # nan is not
        return
    raise WorkloadError(f"{name} is {cut(value)}; it must be a number from {least:,g} to {most:,g}")
