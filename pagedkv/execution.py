"""One execution: run the model once over this turn's inputs, through the paged cache.

Prompts and single new tokens go through the layers as rows of one batch; only attention takes them
apart. In each layer the new K and V are written to their slots first and then every row attends, so
that a query finds its own key in the pool, as it must.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import torch

from pagedkv.batch import Batch
from pagedkv.cache import Attended, PagedKVCache
from pagedkv.language_model import LanguageModel


class LayerObserver(Protocol):
    """Sees what one layer computed; the dense reference grows on this.

    ``query`` [rows, num_heads, head_dim], ``key`` and ``value`` [rows, num_kv_heads, head_dim].
    """

    def __call__(
        self,
        layer: int,
        batch: Batch,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attended: Attended,
    ) -> None:
        """Take note; change nothing."""


@torch.inference_mode()
def execute(
    model: LanguageModel,
    cache: PagedKVCache,
    inputs: Mapping[str, Sequence[int]],
    observe: LayerObserver | None = None,
) -> dict[str, torch.Tensor]:
    """Process every allocated but not yet stored position of the requests in ``inputs``.

    ``inputs`` maps a request to the token ids of exactly those positions. Returns each request's
    logits [vocab_size] after its last input. Raises ValueError if ``inputs`` names no request, or
    one with more or fewer positions to store than token ids given, or with none at all; nothing is
    written then.
    """
    if not inputs:
        raise ValueError(
            "an execution needs the name of at least one request with inputs to process "
            f"(now: {_with_inputs(cache)}), got none"
        )
    batch = cache.pending_batch(inputs)
    for name, ids in inputs.items():
        num_rows = len(batch.rows_of(name))
        if num_rows == 0:
            raise ValueError(f"{name!r} has no input to process: all its positions are stored")
        if num_rows != len(ids):
            raise ValueError(
                f"inputs[{name!r}] has {len(ids)} token ids; {num_rows} of its positions "
                "are allocated but not stored"
            )

    def attend(
        layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
    ) -> torch.Tensor:
        cache.write(layer, batch, key, value)
        attended = cache.attend(layer, batch, query)
        if observe is not None:
            observe(layer, batch, query, key, value, attended)
        return attended.out

    flat_ids = [token_id for ids in inputs.values() for token_id in ids]
    token_ids = torch.tensor(flat_ids, dtype=torch.int64, device=cache.device)  # [rows]
    last_rows = torch.tensor([batch.rows_of(name)[-1] for name in inputs], device=cache.device)
    logits = model(token_ids, batch.positions, attend, last_rows)  # [requests, vocab_size]
    cache.commit(batch, attended=True)
    return dict(zip(inputs, logits, strict=True))


def _with_inputs(cache: PagedKVCache) -> str:
    """Names of the requests that an execution could process, for a message."""
    names = cache.requests
    waiting = [name for name in names if cache.num_stored(name) < cache.num_tokens(name)]
    return ", ".join(waiting) or "none"
