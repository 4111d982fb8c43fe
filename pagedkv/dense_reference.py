"""The separately grown checker: each request's K and V in one contiguous array, in float64.

It takes K and V from the model as they are produced and never reads the pool back, knows no block
table, and shares no code with the kernels it judges. Engines have no such thing: it exists here so
that every attention result on the screen stands beside one that cannot be wrong in the same way.
"""

from dataclasses import dataclass

import torch

import kernels


@dataclass(frozen=True, slots=True, eq=False)
class DenseResult:
    """Dense attention of one query, float64 on the CPU.

    ``out`` [num_heads, head_dim]; ``weights`` [num_heads, n].
    """

    out: torch.Tensor
    weights: torch.Tensor


class DenseReference:
    """K and V of every request, [n, num_kv_heads, head_dim] per layer, float64, on the CPU.

    A layer that nobody watches is never appended to; to ask for it is a ValueError.
    """

    def __init__(self, num_layers: int) -> None:
        self._num_layers = num_layers
        self._keys: dict[str, list[torch.Tensor]] = {}  # request -> per layer [n, kv_heads, dim]
        self._values: dict[str, list[torch.Tensor]] = {}

    def __deepcopy__(self, _: object) -> "DenseReference":
        """Another that goes on from here; arrays are never changed, so they are shared."""
        twin = DenseReference(self._num_layers)
        for mine, other in ((twin._keys, self._keys), (twin._values, self._values)):
            mine.update({name: list(layers) for name, layers in other.items()})
        return twin

    def append(
        self, request: str, layer: int, first: int, key: torch.Tensor, value: torch.Tensor
    ) -> None:
        """Grow a request's ``layer`` by ``key`` and ``value`` [new, num_kv_heads, head_dim].

        They belong to the positions from ``first`` on. What an execution that died midway left
        there is replaced.
        """
        for store, new in ((self._keys, key), (self._values, value)):
            layers = store.setdefault(request, [torch.empty(0)] * self._num_layers)
            new = new.detach().to("cpu", torch.float64)
            layers[layer] = torch.cat([layers[layer][:first], new]) if first else new

    def fork(self, parent: str, child: str) -> None:
        """Let ``child`` start from ``parent``'s arrays; growing one leaves the other alone."""
        for store in (self._keys, self._values):
            if parent in store:  # else no layer is watched
                store[child] = list(store[parent])

    def drop(self, request: str) -> None:
        """Forget a request that ended; one that never ran has left nothing here."""
        self._keys.pop(request, None)
        self._values.pop(request, None)

    def keys(self, request: str, layer: int) -> torch.Tensor:
        """All keys of a request in one layer, [n, num_kv_heads, head_dim] float64."""
        return self._grown(self._keys, request, layer)

    def values(self, request: str, layer: int) -> torch.Tensor:
        """All values of a request in one layer, [n, num_kv_heads, head_dim] float64."""
        return self._grown(self._values, request, layer)

    def attend(
        self, request: str, layer: int, query: torch.Tensor, context_len: int
    ) -> DenseResult:
        """Attend with ``query`` [num_heads, head_dim] over the first ``context_len`` positions."""
        out, weights = kernels.dense_attention(
            query.detach().to("cpu"),
            self.keys(request, layer)[:context_len],
            self.values(request, layer)[:context_len],
        )
        return DenseResult(out, weights)

    def _grown(
        self, store: dict[str, list[torch.Tensor]], request: str, layer: int
    ) -> torch.Tensor:
        grown = store[request][layer]
        if grown.dim() == 1:  # still the placeholder of ``append``
            raise ValueError(f"nothing of {request!r} was checked in layer {layer}: not watched")
        return grown
