"""The network: token ids and positions in, logits out. How attention is computed is not its affair.

`Decoder.forward` makes query, key and value of each layer and hands them to a function `attend`,
which returns what attention gives. In the product that function writes key and value into the
paged KV cache and reads them through a block table; in training it is dense causal attention over
a batch. So there is one network and no branch in it for either.

Rows are independent outside `attend`: a row is one token at one position, and the rows of a call
may belong to one request (prefill), to many (decode), or to a batch with leading dimensions.

`CharGPT` is the course's own. Models of the llama family are the same network in other sizes
(`pagedkv.llama`).

Not here: the causal mask, the cache, sampling, loss. No dropout; no bias terms in the course's own.
"""

from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pagedkv.language_model import Attend, Sizes, Tokenizer

from . import tokenizer
from .config import ModelConfig
from .rope import Scaling, rotate, rotation


class Shape(Sizes, Protocol):
    """What the network is built from: a `ModelConfig`, or another with the same names."""

    @property
    def channels(self) -> int:
        """Width of the residual stream."""
        ...

    @property
    def mlp_channels(self) -> int:
        """Width inside the MLP."""
        ...

    @property
    def rope_base(self) -> float:
        """The slowest pair of channels turns about 1 / rope_base radians a position."""
        ...

    @property
    def norm_eps(self) -> float | None:
        """What RMSNorm adds to the mean square; None is float32's epsilon."""
        ...

    @property
    def rope_scaling(self) -> Scaling | None:
        """What changes RoPE's frequencies, if anything does."""
        ...

    @property
    def attention_bias(self) -> bool:
        """Whether the four projections around attention add a bias."""
        ...

    @property
    def mlp_bias(self) -> bool:
        """Whether the three projections of the MLP add a bias."""
        ...


class Attention(nn.Module):
    """Grouped-query attention without the attention itself: the four projections around it."""

    def __init__(self, layer: int, config: Shape) -> None:
        super().__init__()
        self.layer = layer
        self.head_dim = config.head_dim
        bias = config.attention_bias
        query_width = config.num_heads * config.head_dim
        kv_width = config.num_kv_heads * config.head_dim
        self.query = nn.Linear(config.channels, query_width, bias=bias)
        self.key = nn.Linear(config.channels, kv_width, bias=bias)
        self.value = nn.Linear(config.channels, kv_width, bias=bias)
        self.output = nn.Linear(query_width, config.channels, bias=bias)

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor, attend: Attend) -> Tensor:
        """Map `x` [..., n, channels] to the same shape through `attend`."""
        query = rotate(self._heads(self.query(x)), cosine, sine)  # [..., n, num_heads, head_dim]
        key = rotate(self._heads(self.key(x)), cosine, sine)  # [..., n, num_kv_heads, head_dim]
        value = self._heads(self.value(x))  # [..., n, num_kv_heads, head_dim]
        mixed = attend(self.layer, query, key, value)  # [..., n, num_heads, head_dim]
        out: Tensor = self.output(mixed.flatten(-2))
        return out

    def _heads(self, x: Tensor) -> Tensor:
        return x.reshape(*x.shape[:-1], -1, self.head_dim)


class MLP(nn.Module):
    """Gated feed-forward layer, row by row: silu(gate) * up, then down (Shazeer 2020, SwiGLU)."""

    def __init__(self, config: Shape) -> None:
        super().__init__()
        self.gate = nn.Linear(config.channels, config.mlp_channels, bias=config.mlp_bias)
        self.up = nn.Linear(config.channels, config.mlp_channels, bias=config.mlp_bias)
        self.down = nn.Linear(config.mlp_channels, config.channels, bias=config.mlp_bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` [..., channels] to the same shape."""
        out: Tensor = self.down(F.silu(self.gate(x)) * self.up(x))
        return out


class Layer(nn.Module):
    """One transformer layer: attention, then MLP, each normed before and added to the stream."""

    def __init__(self, layer: int, config: Shape) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(config.channels, eps=config.norm_eps)
        self.attention = Attention(layer, config)
        self.mlp_norm = nn.RMSNorm(config.channels, eps=config.norm_eps)
        self.mlp = MLP(config)

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor, attend: Attend) -> Tensor:
        """Map `x` [..., n, channels] to the same shape."""
        x = x + self.attention(self.attention_norm(x), cosine, sine, attend)
        out: Tensor = x + self.mlp(self.mlp_norm(x))
        return out


class Embedding(nn.Embedding):
    """A row of numbers per token id."""

    def reset_parameters(self) -> None:
        """Fill with random numbers; on the meta device, without memory, there is nothing to fill.

        torch would import its compiler to find that out, which takes two seconds.
        """
        if not self.weight.is_meta:
            super().reset_parameters()


class Decoder(nn.Module):
    """A decoder with RoPE, RMSNorm and grouped-query attention, of any shape."""

    def __init__(self, config: Shape) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config.vocab_size, config.channels)
        self.layers = nn.ModuleList(Layer(i, config) for i in range(config.num_layers))
        self.norm = nn.RMSNorm(config.channels, eps=config.norm_eps)
        self.head = nn.Linear(config.channels, config.vocab_size, bias=False)

    def forward(
        self,
        token_ids: Tensor,
        positions: Tensor,
        attend: Attend,
        logits_for: Tensor | None = None,
    ) -> Tensor:
        """Return logits [..., n, vocab_size] float32 for the token after each row.

        `token_ids` is [..., n] int64; `positions` is [n] or [..., n] int64, each token's index
        within its own request. `attend` is called once a layer, in order, for all rows.
        `logits_for` [m] int64 picks rows of n (from 0) in that order: a prefill needs the logits
        of its last row only.

        Raises ValueError, before `attend` is called, if shapes do not fit or a token id or
        position is out of range.
        """
        _check_inputs(token_ids, positions, self.config)
        config = self.config
        cosine, sine = rotation(positions, config.head_dim, config.rope_base, config.rope_scaling)
        x = self.embedding(token_ids)  # [..., n, channels]
        for layer in self.layers:
            x = layer(x, cosine, sine, attend)
        if logits_for is not None:
            x = x.index_select(-2, logits_for)  # [..., m, channels]
        logits: Tensor = self.head(self.norm(x))
        return logits

    def num_parameters(self) -> int:
        """Count the learnt numbers; a tensor that is used twice counts once."""
        return sum(parameter.numel() for parameter in self.parameters())


class CharGPT(Decoder):
    """A character-level GPT."""

    config: ModelConfig
    tokenizer: Tokenizer = tokenizer  # what the module offers is all that it is asked

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)

    @property
    def name(self) -> str:
        """Which model it is, for the screen: its shape and its size."""
        config, millions = self.config, self.num_parameters() / 1e6
        return f"chargpt {config.num_layers}x{config.channels}, {millions:.1f}M parameters"


def _check_inputs(token_ids: Tensor, positions: Tensor, config: Shape) -> None:
    rows, named = token_ids.shape, tuple(token_ids.shape)
    if token_ids.numel() == 0:
        raise ValueError(f"token_ids has shape {named}; at least one row is needed")
    if positions.shape not in (rows, rows[-1:]):
        raise ValueError(
            f"positions has shape {tuple(positions.shape)}; token_ids {named} needs the same "
            f"or {tuple(rows[-1:])}"
        )
    _check_range("token_ids", token_ids, config.vocab_size, "the vocabulary")
    _check_range("positions", positions, config.context, "the model's context")


def _check_range(argument: str, values: Tensor, bound: int, limit: str) -> None:
    low, high = (int(value) for value in torch.aminmax(values))
    for value in (low, high):
        if not 0 <= value < bound:
            raise ValueError(
                f"{argument} holds {value}; {limit} has {bound} of them, 0 to {bound - 1}"
            )
