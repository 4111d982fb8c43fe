"""Attention the plain way, in float64: the oracle that the kernels are checked against.

It is handed K and V that were kept in order, and it shares nothing with what it checks: no pool, no
block table, no tiles, no running maximum, no code. Slow and obvious is its whole merit.
"""

import math

import torch


@torch.no_grad()
def dense_attention(
    query: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, scale: float | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attend with one query over ``n`` positions: ``softmax(scale * q . k) @ v`` for each head.

    ``query`` is ``[num_heads, head_dim]``, ``k`` and ``v`` are ``[n, num_kv_heads, head_dim]``, of
    any float type; ``scale`` is ``head_dim ** -0.5`` unless given (Vaswani et al. 2017, section
    3.2.1). Query head ``h`` uses KV head ``h // (num_heads // num_kv_heads)`` (Ainslie et al. 2023,
    grouped-query attention).

    Returns ``(out, weights)``, float64, ``[num_heads, head_dim]`` and ``[num_heads, n]``. No
    positions give zeros. Raises ``ValueError`` for shapes that do not fit, for what is no tensor
    and for a scale that is not finite.
    """
    for name, x in (("query", query), ("k", k), ("v", v)):
        if not isinstance(x, torch.Tensor):
            raise ValueError(f"{name} is {x!r}; it must be a tensor")
    if scale is not None and not math.isfinite(scale):
        raise ValueError(f"scale is {scale}; it must be a finite number, or None")
    if query.dim() != 2:
        raise ValueError(f"query has shape {list(query.shape)}; it must be [num_heads, head_dim]")
    num_heads, head_dim = query.shape
    if k.dim() != 3 or k.shape[2] != head_dim:
        raise ValueError(
            f"k has shape {list(k.shape)}; it must be [n, num_kv_heads, head_dim = {head_dim}]"
        )
    if v.shape != k.shape:
        raise ValueError(f"v has shape {list(v.shape)}; it must be that of k, {list(k.shape)}")
    num_kv_heads = k.shape[1]
    if num_kv_heads == 0 or num_heads % num_kv_heads:
        raise ValueError(
            f"query has {num_heads} heads; it must be a multiple of k's {num_kv_heads} KV heads"
        )
    q = query.double()
    of_head = torch.arange(num_heads, device=k.device) // (num_heads // num_kv_heads)
    keys = k.double()[:, of_head]  # [n, num_heads, head_dim]
    values = v.double()[:, of_head]
    scores = torch.einsum("hd,nhd->hn", q, keys) * (head_dim**-0.5 if scale is None else scale)
    weights = torch.softmax(scores, dim=-1)  # [num_heads, n]
    return torch.einsum("hn,nhd->hd", weights, values), weights
