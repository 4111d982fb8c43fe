"""What the engine asks of a language model; the course's own and any other that fits.

The engine decides which tokens are processed and where their K and V go. A model turns token ids
into logits and leaves attention to whoever calls it; its tokenizer turns text into ids and back.
"""

from collections.abc import Iterable
from typing import Protocol

import torch


class Attend(Protocol):
    """Attention of one layer, supplied by the caller."""

    def __call__(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, /
    ) -> torch.Tensor:
        """Return the mixed values [..., n, num_heads, head_dim], one row per query row.

        ``query`` is [..., n, num_heads, head_dim]; ``key`` and ``value`` are
        [..., n, num_kv_heads, head_dim], of the same n tokens. Query and key are turned by RoPE
        already and not scaled: scores still need the factor head_dim ** -0.5.
        """
        ...


class Tokenizer(Protocol):
    """Text to token ids and back."""

    def encode(self, text: str, /) -> list[int]:
        """Return the ids of a text's tokens; ValueError names what has none."""
        ...

    def decode(self, token_ids: Iterable[int], /) -> str:
        """Return the text of the tokens together."""
        ...

    def pieces(self, token_ids: Iterable[int], /) -> tuple[str, ...]:
        """Return each token as it is written by itself."""
        ...


class Sizes(Protocol):
    """The shape of a model, as far as cache and engine need it."""

    @property
    def vocab_size(self) -> int:
        """Token ids are 0 ... vocab_size - 1."""
        ...

    @property
    def num_layers(self) -> int:
        """Layers, each with K and V of its own."""
        ...

    @property
    def num_heads(self) -> int:
        """Query heads."""
        ...

    @property
    def num_kv_heads(self) -> int:
        """Key and value heads; each serves num_heads / num_kv_heads query heads."""
        ...

    @property
    def head_dim(self) -> int:
        """Channels of a head."""
        ...

    @property
    def context(self) -> int:
        """Most positions that a request can have."""
        ...

    @property
    def end_ids(self) -> tuple[int, ...]:
        """Tokens after which the model has nothing more to say; empty if it has no such token."""
        ...


class LanguageModel(Protocol):
    """A decoder whose attention is somebody else's."""

    @property
    def name(self) -> str:
        """Which one it is, for the screen."""
        ...

    @property
    def config(self) -> Sizes:
        """Its shape."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that it was trained with."""
        ...

    def __call__(
        self,
        token_ids: torch.Tensor,
        positions: torch.Tensor,
        attend: Attend,
        logits_for: torch.Tensor | None = None,
        /,
    ) -> torch.Tensor:
        """Return logits [..., n, vocab_size] float32 for the token after each row.

        ``token_ids`` is [..., n] int64; ``positions`` is [n] or [..., n] int64, each token's index
        within its own request. ``attend`` is called once a layer, in order, for all rows.
        ``logits_for`` [m] int64 picks rows of n. Raises ValueError, before ``attend`` is called,
        for ids and positions out of range.
        """
        ...
