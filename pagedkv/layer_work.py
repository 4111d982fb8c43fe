"""Who computes the attention of which layer: some layers are watched, the others are only run.

A watched layer is what the course shows. Its K and V are written and attended by whatever this
process chose (``kernels.runtime()``), every query is recorded, and the dense reference checks it.
Triton's interpreter needs tens of milliseconds for that, which a model of thirty layers cannot pay
thirty times a token; so where kernels are interpreted, layers that nobody watches go through the
torch backend: the same pool, the same block tables, nothing recorded. Anywhere else they go the
same way as the watched ones.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import kernels
from pagedkv.checks import require_whole_number

FEW = 4  # layers that can all be watched; the course's model has three


def layers_to_watch(num_layers: int) -> tuple[int, ...]:
    """All layers of a small model; of a large one the last, whose output becomes the logits.

    >>> layers_to_watch(3), layers_to_watch(30)
    ((0, 1, 2), (29,))
    """
    return tuple(range(num_layers)) if num_layers <= FEW else (num_layers - 1,)


@dataclass(frozen=True, slots=True)
class LayerWork:
    """Which layers of a model are watched, and which backend does which; ``make`` checks.

    ``default`` is the process's backend and ``unwatched`` that of the layers nobody watches, both
    as ``kernels.runtime()`` spells them. ``watched`` are layer indices, each once, rising.
    """

    num_layers: int
    watched: tuple[int, ...]
    default: str
    unwatched: str

    @classmethod
    def make(cls, num_layers: int, watched: Iterable[int] | None = None) -> "LayerWork":
        """Watch these layers (None: all) on this process's backend.

        Raises ValueError for a layer that the model lacks, and for what is no layer.
        """
        chosen = set(range(num_layers) if watched is None else watched)
        for layer in chosen:
            require_whole_number("watched_layers", layer, least=0, most=num_layers - 1)
        default = kernels.runtime()["backend"]
        unwatched = "torch" if default == "triton-interpreter" else default
        return cls(num_layers, tuple(sorted(chosen)), default, unwatched)

    def is_watched(self, layer: int) -> bool:
        """Whether this layer's attention is recorded and checked."""
        return layer in self.watched

    def backend(self, layer: int) -> str:
        """What computes this layer, as ``kernels.runtime()`` spells it."""
        return self.default if self.is_watched(layer) else self.unwatched

    @property
    def torch_layers(self) -> tuple[int, ...]:
        """The layers that torch does, though the process chose something else for the others."""
        layers = () if self.unwatched == self.default else range(self.num_layers)
        return tuple(layer for layer in layers if not self.is_watched(layer))

    @property
    def by_backend(self) -> dict[str, tuple[int, ...]]:
        """Each backend that does anything, and its layers: for the screen."""
        layers = range(self.num_layers)
        names = dict.fromkeys(self.backend(layer) for layer in layers)
        return {name: tuple(i for i in layers if self.backend(i) == name) for name in names}

    def require_watched(self, layer: int) -> None:
        """Raise ValueError for a layer that the model lacks, and for one that is not watched."""
        require_whole_number("layer", layer, least=0, most=self.num_layers - 1)
        if not self.is_watched(layer):
            watched = ", ".join(map(str, self.watched)) or "none"
            raise ValueError(
                f"layer {layer} is not watched, so nothing of it was recorded (watched: {watched})"
            )
