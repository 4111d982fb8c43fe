"""What a frame shows as proof: look-ups, attention beside the dense one, a score worked out.

Everything here compares the pool's tensors, or what the kernel made of them, with the separately
grown dense reference. It reads the engine and changes nothing.
"""

import math
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch

from pagedkv.engine import AttentionRecord, Engine
from pagedkv.layout import split_position
from pagedkv.trace.first_look import last_queries, most_spread_head
from pagedkv.trace.frame import (
    AttentionView,
    Comparison,
    LayerDifference,
    LookupView,
    WorkedScore,
)

Numbers = TypeVar("Numbers", bound=npt.NDArray[np.floating])


def look_up(engine: Engine, name: str) -> tuple[LookupView, ...]:
    """Find every stored position of a request, and compare its K and V with the dense copy.

    The dense copy has the watched layers; ValueError if there is none.
    """
    watched = list(engine.layer_work.watched)
    if not watched:
        raise ValueError("no layer is watched, so there is no dense copy to compare with")
    views = []
    for position in range(engine.cache.num_stored(name)):
        place = engine.cache.locate(name, position)
        errors = []
        for pool, dense_of in (
            (engine.cache.k_cache, engine.reference.keys),
            (engine.cache.v_cache, engine.reference.values),
        ):
            # both [watched layers, num_kv_heads, head_dim]
            paged = pool[watched, place.block_id, place.offset].to("cpu", torch.float64)
            dense = torch.stack([dense_of(name, layer)[position] for layer in watched])
            errors.append(_max_abs(paged - dense))
        views.append(
            LookupView(
                request=name,
                position=position,
                logical_block=place.logical_block,
                offset=place.offset,
                block_id=place.block_id,
                flat_slot=place.flat_slot,
                max_abs_error_k=errors[0],
                max_abs_error_v=errors[1],
            )
        )
    return tuple(views)


def attention_views(engine: Engine, names: Iterable[str]) -> tuple[AttentionView, ...]:
    """These requests' last execution: a view per request, layer and query position."""
    return tuple(
        _attention_view(record, engine.cache.config.block_size)
        for name in names
        for record in engine.attention.get(name, ())
    )


def _attention_view(record: AttentionRecord, block_size: int) -> AttentionView:
    table = record.block_table
    context_len = record.position + 1
    return AttentionView(
        request=record.request,
        query_position=record.position,
        context_length=context_len,
        layer=record.layer,
        block_ids=tuple(
            table[split_position(position, block_size).logical_block]
            for position in range(context_len)
        ),
        paged=_read_only(record.paged.weights.numpy()),
        dense=_read_only(record.dense.weights.numpy()),
        max_abs_error_weights=_max_abs(record.paged.weights - record.dense.weights),
        max_abs_error_output=_max_abs(record.paged.out - record.dense.out),
        positions_per_block=tuple(
            min(block_size, context_len - start) for start in range(0, context_len, block_size)
        ),
        skipped_blocks=tuple(b for b in record.blocks_in_use if b not in table),
        skipped_slots=len(table) * block_size - context_len,
    )


def work_out_score(engine: Engine, name: str) -> WorkedScore:
    """One weight of a request's last query, step by step: dot product, scale, softmax.

    It is the weight of the earlier position that counts most, in the layer and head whose attention
    is spread most: one worth looking at.

    score = (q · k) / sqrt(head_dim); weight = exp(score - max) / sum of exp over all positions
    (scaled dot-product attention, Vaswani et al. 2017, §3.2.1). Keys are read from the pool through
    the block table, in float64.
    """
    layer, head = most_spread_head(last_queries(attention_views(engine, [name])))
    record = engine.last_attention(name, layer)
    earlier = record.paged.weights[head, : max(record.position, 1)]  # [record.position], or [1]
    key_position = int(earlier.argmax())
    num_heads, head_dim = record.query.shape
    kv_head = head // (num_heads // engine.cache.config.num_kv_heads)
    places = [engine.cache.locate(name, p) for p in range(record.position + 1)]
    k_layer = engine.cache.k_cache[layer].to("cpu", torch.float64)
    keys = torch.stack([k_layer[p.block_id, p.offset, kv_head] for p in places])  # [n, head_dim]
    dots = keys @ record.query[head].double()  # [n]
    scores = dots / math.sqrt(head_dim)  # [n]
    exponentials = (scores - scores.max()).exp()  # [n]
    return WorkedScore(
        request=name,
        layer=layer,
        head=head,
        kv_head=kv_head,
        query_position=record.position,
        key_position=key_position,
        block_id=places[key_position].block_id,
        offset=places[key_position].offset,
        dot=float(dots[key_position]),
        scale=1 / math.sqrt(head_dim),
        score=float(scores[key_position]),
        max_score=float(scores.max()),
        denominator=float(exponentials.sum()),
        weight=float(exponentials[key_position] / exponentials.sum()),
        kernel_weight=float(record.paged.weights[head, key_position]),
    )


def compare_beginnings(
    one: Engine, one_name: str, other: Engine, other_name: str, position: int
) -> Comparison:
    """K and V of the same position in two requests, layer by layer, read from their pools."""
    layers = []
    for layer in range(one.cache.config.num_layers):
        differences = []
        for pool in ("k_cache", "v_cache"):
            vectors = []
            for engine, name in ((one, one_name), (other, other_name)):
                place = engine.cache.locate(name, position)
                vectors.append(getattr(engine.cache, pool)[layer, place.block_id, place.offset])
            differences.append(_max_abs(vectors[0] - vectors[1]))
        layers.append(LayerDifference(layer, differences[0], differences[1]))
    return Comparison(
        position=position,
        token=one.tokens(one_name)[position],
        prompts=(one.text(one_name), other.text(other_name)),
        layers=tuple(layers),
    )


def _max_abs(difference: torch.Tensor) -> float:
    return float(difference.abs().max()) if difference.numel() else 0.0


def _read_only(array: Numbers) -> Numbers:
    """A copy that nobody can change, free of the tensor that it came from."""
    array = array.copy()
    array.setflags(write=False)
    return array
