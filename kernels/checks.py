"""Argument checks of the launchers: bad input is refused before anything is written.

Every refusal is a ``ValueError`` that names the argument, the value and what would be right. A
kernel itself cannot refuse: a wrong block id there reads or overwrites whatever lies at that
address. To look at ids and lengths the host waits for the device to deliver them.
"""

from collections.abc import Sequence

import torch

CACHE_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
MAX_HEAD_DIM = 256
LARGEST_SCALE = 1e30  # times log2(e) and a score it is still finite in fp32, for scores in reason

Pairs = torch.Tensor | Sequence[tuple[int, int]]


def check_write_slots(
    k: torch.Tensor,
    v: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
) -> None:
    """Refuse rows that do not have the cache's shape and slots that the pool does not have."""
    _check_caches(k_cache, v_cache, "[num_blocks, block_size, num_kv_heads, head_dim]", (4,))
    _check_apart(k_cache, v_cache)
    num_blocks, block_size, num_kv_heads, head_dim = k_cache.shape
    _check_tensor("slot_mapping", slot_mapping, "[tokens]", (None,), torch.int64, k_cache.device)
    num_tokens = len(slot_mapping)
    for name, rows in (("k", k), ("v", v)):
        _check_tensor(
            name,
            rows,
            f"[tokens = {num_tokens}, num_kv_heads = {num_kv_heads}, head_dim = {head_dim}]",
            (num_tokens, num_kv_heads, head_dim),
            k_cache.dtype,
            k_cache.device,
        )
    num_slots = num_blocks * block_size
    seen: set[int] = set()
    for token, slot in enumerate(slot_mapping.tolist()):
        if not -1 <= slot < num_slots:
            raise ValueError(
                f"slot_mapping[{token}] is {slot}; the pool has {num_slots} slots, "
                f"so it must be -1 (skip) or in 0..{num_slots - 1}"
            )
        if slot in seen:
            raise ValueError(f"slot_mapping[{token}] is {slot} again; a slot holds one token")
        if slot >= 0:
            seen.add(slot)


def check_copy_blocks(k_cache: torch.Tensor, v_cache: torch.Tensor, pairs: Pairs) -> torch.Tensor:
    """Refuse pairs outside the pool or that depend on each other; return them as ``[n, 2]`` int64.

    Copies run in no order, so no block may be written twice, or be both read and written.
    """
    _check_caches(
        k_cache,
        v_cache,
        "[num_blocks, block_size, num_kv_heads, head_dim], with or without a leading layers axis",
        (4, 5),
    )
    _check_apart(k_cache, v_cache)
    if not isinstance(pairs, torch.Tensor):
        pairs = _as_tensor(pairs, k_cache.device)
    _check_tensor("pairs", pairs, "[n, 2]", (None, 2), None, k_cache.device)
    if pairs.dtype not in (torch.int32, torch.int64):
        raise ValueError(f"pairs is {pairs.dtype}; it must be torch.int32 or torch.int64")
    _check_pairs(pairs.tolist(), k_cache.shape[-4])
    return pairs.long()


def check_paged_prefill(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_table: torch.Tensor,
    context_len: int,
    scale: float | None,
) -> None:
    """Refuse what does not fit: the query has the last tokens of ``context_len`` positions."""
    num_blocks, block_size = _check_query(query, k_cache, v_cache, "tokens", scale)
    _check_tensor("block_table", block_table, "[max_blocks]", (None,), torch.int32, k_cache.device)
    if isinstance(context_len, bool) or not isinstance(context_len, int):
        raise ValueError(f"context_len is {context_len!r}; it must be a whole number")
    room, tokens = len(block_table) * block_size, len(query)
    if not tokens <= context_len <= room:
        raise ValueError(
            f"context_len is {context_len}; with {tokens} query tokens and a table of "
            f"{len(block_table)} blocks of {block_size} it must be in {tokens}..{room}"
        )
    _check_used_entries(
        block_table[None],
        torch.tensor([context_len], device=block_table.device),
        num_blocks,
        block_size,
        ("block_table[{entry}]", "context_len = {length}"),
    )


def check_paged_attention(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_tables: torch.Tensor,
    context_lens: torch.Tensor,
    scale: float | None,
) -> int:
    """Refuse what does not fit; return the longest context length (0 without rows)."""
    num_blocks, block_size = _check_query(query, k_cache, v_cache, "rows", scale)
    rows, device = len(query), k_cache.device
    shape = f"[rows = {rows}, max_blocks]"
    _check_tensor("block_tables", block_tables, shape, (rows, None), torch.int32, device)
    shape = f"[rows = {rows}]"
    _check_tensor("context_lens", context_lens, shape, (rows,), torch.int32, device)

    lengths = context_lens.tolist()
    room = block_tables.shape[1] * block_size
    for row, length in enumerate(lengths):
        if not 0 <= length <= room:
            raise ValueError(
                f"context_lens[{row}] is {length}; a table of {block_tables.shape[1]} blocks of "
                f"{block_size} holds 0..{room} positions"
            )
    _check_used_entries(
        block_tables,
        context_lens,
        num_blocks,
        block_size,
        ("block_tables[{row}, {entry}]", "context_lens[{row}] = {length}"),
    )
    return max(lengths, default=0)


def scale_or_default(scale: float | None, head_dim: int) -> float:
    """The factor of the scores: as given, else that of Vaswani et al. 2017, section 3.2.1."""
    return float(head_dim**-0.5 if scale is None else scale)


def check_scale(scale: object) -> None:
    """Refuse a scale that is no finite number in fp32, where scores are computed in base 2."""
    is_number = isinstance(scale, int | float) and not isinstance(scale, bool)
    if not is_number or not -LARGEST_SCALE <= scale <= LARGEST_SCALE:  # type: ignore[operator]
        raise ValueError(
            f"scale is {scale!r}; it must be a finite number, at most {LARGEST_SCALE:.0e}, or None"
        )


def _check_query(
    query: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    rows: str,
    scale: float | None,
) -> tuple[int, int]:
    """Check the query beside the caches; return ``(num_blocks, block_size)``."""
    _check_caches(k_cache, v_cache, "[num_blocks, block_size, num_kv_heads, head_dim]", (4,))
    num_blocks, block_size, num_kv_heads, head_dim = k_cache.shape
    _check_tensor(
        "query",
        query,
        f"[{rows}, heads, head_dim = {head_dim}]",
        (None, None, head_dim),
        k_cache.dtype,
        k_cache.device,
    )
    num_heads = query.shape[1]
    if num_heads == 0 or num_heads % num_kv_heads:
        raise ValueError(
            f"query has {num_heads} heads; it must be a multiple of the cache's "
            f"{num_kv_heads} KV heads"
        )
    if scale is not None:
        check_scale(scale)
    return num_blocks, block_size


def _check_caches(
    k_cache: torch.Tensor, v_cache: torch.Tensor, shape: str, dims: tuple[int, ...]
) -> None:
    if not isinstance(k_cache, torch.Tensor):
        raise ValueError(f"k_cache is {k_cache!r}; it must be a tensor {shape}")
    if k_cache.dim() not in dims:
        raise ValueError(f"k_cache has shape {list(k_cache.shape)}; it must be {shape}")
    if k_cache.dtype not in CACHE_DTYPES:
        allowed = ", ".join(str(dtype) for dtype in CACHE_DTYPES)
        raise ValueError(f"k_cache is {k_cache.dtype}; it must be one of {allowed}")
    block_size, num_kv_heads, head_dim = k_cache.shape[-3:]
    if min(block_size, num_kv_heads, head_dim) < 1 or head_dim > MAX_HEAD_DIM:
        raise ValueError(
            f"k_cache has shape {list(k_cache.shape)}; block_size and num_kv_heads must be at "
            f"least 1 and head_dim in 1..{MAX_HEAD_DIM}"
        )
    shape = f"{list(k_cache.shape)} like k_cache"
    _check_tensor("v_cache", v_cache, shape, k_cache.shape, k_cache.dtype, k_cache.device)


def _check_apart(k_cache: torch.Tensor, v_cache: torch.Tensor) -> None:
    """Refuse caches to be written in which one number lies in several places."""
    for name, cache in (("k_cache", k_cache), ("v_cache", v_cache)):
        for axis, (size, stride) in enumerate(zip(cache.shape, cache.stride(), strict=True)):
            if size > 1 and stride == 0:
                raise ValueError(
                    f"{name} has stride 0 on axis {axis} of size {size}; a write there would land "
                    "in several slots, so every slot must have a place of its own"
                )


def _check_tensor(
    name: str,
    tensor: torch.Tensor,
    shape: str,
    sizes: Sequence[int | None],
    dtype: torch.dtype | None,
    device: torch.device,
) -> None:
    """Compare with ``sizes`` (None: any); ``shape`` is how the message spells them."""
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"{name} is {tensor!r}; it must be a tensor {shape}")
    fits = tensor.dim() == len(sizes) and all(
        wanted is None or size == wanted for size, wanted in zip(tensor.shape, sizes, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} has shape {list(tensor.shape)}; it must be {shape}")
    if dtype is not None and tensor.dtype != dtype:
        raise ValueError(f"{name} is {tensor.dtype}; it must be {dtype}")
    if tensor.device != device:
        raise ValueError(f"{name} is on {tensor.device}; it must be on {device}, like k_cache")


def _as_tensor(pairs: Sequence[tuple[int, int]], device: torch.device) -> torch.Tensor:
    if isinstance(pairs, Sequence) and not pairs:
        return torch.empty((0, 2), dtype=torch.int64, device=device)
    try:
        return torch.tensor(pairs, device=device)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ValueError(f"pairs is {pairs!r}; it must be pairs of block ids") from error


def _check_pairs(pairs: list[list[int]], num_blocks: int) -> None:
    sources = {source for source, _ in pairs}
    written: set[int] = set()
    for n, pair in enumerate(pairs):
        for block_id in pair:
            if not 0 <= block_id < num_blocks:
                raise ValueError(
                    f"pairs[{n}] is {pair}; the pool has {num_blocks} blocks, so both must be "
                    f"in 0..{num_blocks - 1}"
                )
        destination = pair[1]
        if destination in written:
            raise ValueError(f"pairs[{n}] is {pair}; {destination} is a destination twice")
        if destination in sources:
            raise ValueError(f"pairs[{n}] is {pair}; {destination} is also a source")
        written.add(destination)


def _check_used_entries(
    block_tables: torch.Tensor,
    context_lens: torch.Tensor,
    num_blocks: int,
    block_size: int,
    names: tuple[str, str],
) -> None:
    """Check the first ``ceil(context_len / block_size)`` entries of each row, and no others.

    ``names`` are how the message calls an entry and the length that uses it.
    """
    logical = torch.arange(block_tables.shape[1], device=block_tables.device)
    used = logical * block_size < context_lens[:, None]  # [rows, max_blocks]
    bad = used & ((block_tables < 0) | (block_tables >= num_blocks))
    if bad.any():
        row, entry = bad.nonzero()[0].tolist()
        values = {"row": row, "entry": entry, "length": int(context_lens[row])}
        place, user = (name.format(**values) for name in names)
        raise ValueError(
            f"{place} is {int(block_tables[row, entry])}, and {user} uses it; the pool has "
            f"{num_blocks} blocks, so it must be in 0..{num_blocks - 1}"
        )
