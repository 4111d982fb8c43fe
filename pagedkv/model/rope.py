"""Rotary position embedding (RoPE): a position becomes an angle, not a vector that is added.

Each pair of channels of a query or key is turned by `position * frequency`. A dot product of two
turned vectors depends on the angles' difference only, so attention sees how far apart two
positions are. Keys are turned once, when they are made: what a KV cache stores is the turned key.

Source: Su et al., "RoFormer" (2021), eq. 34, with channel i paired with channel i + head_dim / 2.
"""

from collections.abc import Callable

import torch
from torch import Tensor

Scaling = Callable[[Tensor], Tensor]  # from frequencies to frequencies, pair by pair


def rotation(
    positions: Tensor, head_dim: int, base: float, scaling: Scaling | None = None
) -> tuple[Tensor, Tensor]:
    """Return cosine and sine of every pair's angle, each [..., n, 1, head_dim / 2] float32.

    `positions` [..., n] is an integer tensor. The axis of size 1 is there to meet the heads.
    `scaling` may change the frequencies [head_dim / 2], in radians a position.
    """
    pair = torch.arange(0, head_dim, 2, device=positions.device, dtype=torch.float32)
    frequency = base ** (-pair / head_dim)  # [head_dim / 2], radians per position, falling
    if scaling is not None:
        frequency = scaling(frequency)
    angle = positions.to(torch.float32)[..., None, None] * frequency
    return angle.cos(), angle.sin()


def rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn each pair of channels of `x` [..., n, heads, head_dim]; lengths stay as they are."""
    first, second = x.chunk(2, dim=-1)  # [..., n, heads, head_dim / 2] each
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)
