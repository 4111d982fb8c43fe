"""What the paper prints: values, where each stands, and how sure the reading is.

Kwon et al. 2023, Efficient Memory Management for Large Language Model Serving with PagedAttention
(SOSP'23, arXiv 2309.06180). The PDF itself was not at hand: values were read in public copies, and
each says in how many.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

KV_BYTES = 12 * 2**30  # for the KV cache of OPT-13B on one A100: table 1
BYTES_PER_TOKEN = 819_200  # of OPT-13B: keys and values of 5120 numbers, 40 layers, 2 bytes each
BLOCK_SIZE = 16  # tokens; vLLM's default
SLOTS = KV_BYTES // BYTES_PER_TOKEN // BLOCK_SIZE * BLOCK_SIZE  # in whole blocks
RATES: Mapping[str, float] = MappingProxyType({"sharegpt": 2.0, "alpaca": 30.0})  # figure 13


class Certainty(StrEnum):
    """How a printed value was read."""

    TWO_COPIES = "read in two copies of the text"
    ONE_COPY = "read in one copy of the text"


_TWO, _ONE = Certainty.TWO_COPIES, Certainty.ONE_COPY


@dataclass(frozen=True, slots=True)
class Printed:
    """A value as printed, and where."""

    value: float
    where: str
    certainty: Certainty


def _printed(where: str, certainty: Certainty, **values: float) -> Mapping[str, Printed]:
    return {name: Printed(value, where, certainty) for name, value in values.items()}


def _figure_2(certainty: Certainty, *, token: float, **others: float) -> Mapping[str, Printed]:
    """``certainty`` is that of the token share; the others were read in one copy."""
    return {
        **_printed("figure 2", certainty, token=token),
        **_printed("figure 2", _ONE, **others),
    }


# Per cent of the KV memory, OPT-13B and ShareGPT: policy -> part. A part that is not printed is
# missing; vLLM's other parts are not told apart.
SHARES: Mapping[str, Mapping[str, Printed]] = MappingProxyType(
    {
        "max": _figure_2(_TWO, token=20.4, reserved=13.3, internal=57.3, external=8.9),
        "pow2": _figure_2(_ONE, token=26.8, reserved=17.9, internal=13.6, external=41.6),
        "oracle": _figure_2(_TWO, token=38.2, reserved=25.2, external=36.6),
        "paged": _figure_2(_TWO, token=96.3),
    }
)

# Mean requests in a batch, OPT-13B: recipe -> policy.
BATCHES: Mapping[str, Mapping[str, Printed]] = MappingProxyType(
    {
        "sharegpt": _printed("figure 13a", _TWO, max=7.00, pow2=9.81, oracle=13.62, paged=30.42),
        "alpaca": _printed("figure 13b", _ONE, max=7.00, pow2=43.24, oracle=72.75, paged=132.44),
    }
)

# Per cent of blocks saved by sharing, OPT-13B: recipe -> way of decoding -> answers.
_15, _TEXT = ("figure 15", _TWO), ("section 6.3", _TWO)
SAVINGS: Mapping[str, Mapping[str, Mapping[int, Printed]]] = MappingProxyType(
    {
        "alpaca": {
            "parallel": {2: Printed(6.09, *_15), 4: Printed(8.53, *_15), 6: Printed(9.79, *_15)},
            "beam": {2: Printed(37.56, *_15), 4: Printed(53.13, *_15), 6: Printed(55.16, *_15)},
        },
        "sharegpt": {  # the ends of the ranges in the text
            "parallel": {2: Printed(16.2, *_TEXT), 6: Printed(30.5, *_TEXT)},
            "beam": {2: Printed(44.3, *_TEXT), 6: Printed(66.3, *_TEXT)},
        },
    }
)
