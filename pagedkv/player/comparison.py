"""K and V of one character after two beginnings: how far apart, layer by layer."""

from typing import Any

from pagedkv.player.text import say
from pagedkv.trace.frame import Comparison
from pagedkv.trace.written import small, visible

Data = dict[str, Any]


def comparison_data(comparison: Comparison | None) -> Data | None:
    """Describe how far K and V of one character are apart after two beginnings, by layer."""
    if comparison is None:
        return None
    return {
        "title": say("comparison", token=visible(comparison.token), position=comparison.position),
        "position": comparison.position,
        "prompts": [[visible(token) for token in prompt] for prompt in comparison.prompts],
        "layers": [
            [layer.layer, small(layer.max_abs_k), small(layer.max_abs_v)]
            for layer in comparison.layers
        ],
    }
