"""The place of every experiment: a real pool with a past, three requests in it, and one query.

Earlier requests have filled the pool and ended, so every slot holds finite old bytes. ``B`` and
``C`` then decode in turns, and ``B2`` forks from B at seven positions: their blocks lie apart. The
query under experiment is that of B's last input, in one layer, all heads.
"""

import random
from dataclasses import dataclass, field

import torch

import kernels
from pagedkv.cache import Attended
from pagedkv.dense_reference import DenseResult
from pagedkv.engine import Engine
from pagedkv.events import BlockCopied, Event, SlotsWritten
from pagedkv.layout import blocks_needed
from pagedkv.model import load_model
from pagedkv.model.gpt import CharGPT
from pagedkv.model.prompts import PASSAGE_B, PASSAGE_C, PASSAGE_D, PASSAGE_SHARED, prompt
from pagedkv.settings import check_setting

REQUEST = "B"  # whose query attends
FORK = "B2"
NEIGHBOUR = "C"
PROMPT_LENGTH = 6
FORKED_AT = 7  # positions that B and its fork share: no whole number of blocks, but of 1 and of 7
CONTEXT_LEN = 13  # B's positions in the end: at every block size but 1 and 13 a slot stays unused
NEIGHBOUR_STOPS_AT = 11
SPARE_BLOCKS = 3

MemoryEvent = SlotsWritten | BlockCopied


@dataclass(frozen=True, slots=True, eq=False)
class Pools:
    """K and V of one layer, each [num_blocks, block_size, num_kv_heads, head_dim]."""

    k: torch.Tensor
    v: torch.Tensor

    def clone(self) -> "Pools":
        """A pool of one's own, to spoil."""
        return Pools(self.k.clone(), self.v.clone())


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """B's last query, the pool it reads, and what the dense reference says. Nobody changes it.

    ``query`` [num_heads, head_dim] float32 on the cache's device. ``at_start`` is the layer's pool
    before B and C came, and ``memory_events`` are all writes and copies since, in order.
    ``earlier_table`` is the block table of an earlier request, whose blocks are all free again.
    """

    engine: Engine = field(repr=False)
    layer: int
    query: torch.Tensor = field(repr=False)
    dense: DenseResult = field(repr=False)
    at_start: Pools = field(repr=False)
    memory_events: tuple[MemoryEvent, ...]
    earlier_table: tuple[int, ...]

    @property
    def block_size(self) -> int:
        """Slots in a block."""
        return self.engine.cache.block_size

    @property
    def table(self) -> tuple[int, ...]:
        """B's block table: physical block ids by logical block."""
        return self.engine.cache.block_table(REQUEST)

    @property
    def context_len(self) -> int:
        """Positions that B's query attends to, its own included."""
        return self.engine.cache.num_stored(REQUEST)

    @property
    def pools(self) -> Pools:
        """The layer's real pool, as views: clone before you write."""
        return Pools(self.engine.cache.k_cache[self.layer], self.engine.cache.v_cache[self.layer])

    def stored_slots(self) -> frozenset[int]:
        """Flat slots that hold a stored position of a request alive."""
        cache = self.engine.cache
        return frozenset(
            cache.locate(name, position).flat_slot
            for name in cache.requests
            for position in range(cache.num_stored(name))
        )

    def attend(
        self,
        pools: Pools | None = None,
        table: tuple[int, ...] | None = None,
        context_len: int | None = None,
    ) -> Attended:
        """Let the decode kernel attend with B's query; what is not given is as it really is.

        Returns ``out`` [num_heads, head_dim] and ``weights`` [num_heads, context_len], float32 on
        the CPU. Raises ValueError where the kernel's launcher refuses.
        """
        return attend(
            self.query,
            self.pools if pools is None else pools,
            self.table if table is None else table,
            self.context_len if context_len is None else context_len,
        )


def attend(query: torch.Tensor, pools: Pools, table: tuple[int, ...], context_len: int) -> Attended:
    """Let the decode kernel attend with one query [num_heads, head_dim], float32.

    ``table`` holds physical block ids by logical block. Returns ``out`` [num_heads, head_dim] and
    ``weights`` [num_heads, context_len], float32 on the CPU. Raises ValueError where the kernel's
    launcher refuses.
    """
    device = pools.k.device
    out, weights = kernels.paged_attention(
        query[None].to(device),
        pools.k,
        pools.v,
        torch.tensor([table], dtype=torch.int32, device=device),
        torch.tensor([context_len], dtype=torch.int32, device=device),
        return_weights=True,
    )
    return Attended(out[0].cpu(), weights[0].cpu())


def model_with(layer: int, model: CharGPT | None = None) -> CharGPT:
    """Return ``model``, or the committed weights without one.

    Raises ValueError for a layer that the model lacks.
    """
    model = model or load_model(kernels.runtime()["device"])
    if layer not in range(model.config.num_layers):
        raise ValueError(f"layer is {layer}; the model has 0 to {model.config.num_layers - 1}")
    return model


def build_scene(block_size: int = 4, layer: int = 0, model: CharGPT | None = None) -> Scene:
    """Run the requests on a new engine and stop after B's last input.

    Raises ``SettingsError`` for a block size outside 1 to 32, ValueError for a layer that the model
    lacks. Without ``model`` the committed weights are loaded.
    """
    check_setting("block_size", block_size)
    model = model_with(layer, model)
    events: list[MemoryEvent] = []

    def listen(event: Event) -> None:
        if isinstance(event, MemoryEvent):
            events.append(event)

    # Three requests that share nothing, and some blocks that stay free.
    num_blocks = 3 * blocks_needed(CONTEXT_LEN, block_size) + SPARE_BLOCKS
    engine = Engine(
        model,
        block_size=block_size,
        num_blocks=num_blocks,
        free_order=scattered(num_blocks),
        on_event=listen,
    )
    earlier_table = _leave_old_bytes(engine)
    at_start = Pools(engine.cache.k_cache[layer], engine.cache.v_cache[layer]).clone()
    events.clear()
    _decode_in_turns(engine)
    record = engine.last_attention(REQUEST, layer)
    return Scene(
        engine=engine,
        layer=layer,
        query=record.query.to(engine.cache.device),
        dense=record.dense,
        at_start=at_start,
        memory_events=tuple(events),
        earlier_table=earlier_table,
    )


def scattered(num_blocks: int) -> tuple[int, ...]:
    """All block ids in an order as earlier requests might leave it; the same one each time."""
    return cycle_of(num_blocks, seed=num_blocks)


def cycle_of(num_blocks: int, seed: int) -> tuple[int, ...]:
    """A permutation without fixed points: one cycle, by Sattolo's algorithm."""
    draw = random.Random(seed)
    order = list(range(num_blocks))
    for last in range(num_blocks - 1, 0, -1):
        other = draw.randrange(last)
        order[last], order[other] = order[other], order[last]
    return tuple(order)


def _leave_old_bytes(engine: Engine) -> tuple[int, ...]:
    """Fill every slot by requests that end; return the table of the first of them."""
    text = PASSAGE_SHARED + PASSAGE_D
    spans = [engine.cache.num_blocks // 2, engine.cache.num_blocks - engine.cache.num_blocks // 2]
    tables = []
    for number, num_blocks in enumerate(spans):
        name, num_tokens = f"earlier {number}", num_blocks * engine.cache.block_size
        engine.admit(name, (text[number:] * (num_tokens // len(text) + 2))[:num_tokens])
        engine.execute(name)
        tables.append(engine.cache.block_table(name))
    for number in range(len(spans)):
        engine.finish(f"earlier {number}")
    return tables[0]


def _decode_in_turns(engine: Engine) -> None:
    """Admit B and C, fork B, and decode until B has all its positions."""
    engine.admit(REQUEST, prompt(PASSAGE_B, PROMPT_LENGTH))
    engine.admit(NEIGHBOUR, prompt(PASSAGE_C, PROMPT_LENGTH))
    engine.execute(REQUEST, NEIGHBOUR)
    for name in (REQUEST, NEIGHBOUR):
        engine.select(name)
    names: tuple[str, ...] = (REQUEST, NEIGHBOUR)
    while engine.cache.num_stored(REQUEST) < CONTEXT_LEN:
        for name in names:
            engine.append(name)
        engine.execute(*names)
        if engine.cache.num_stored(REQUEST) == FORKED_AT:
            engine.fork(REQUEST, FORK)
            engine.select(FORK, rank=1)  # another answer than B's
            names = (REQUEST, FORK, NEIGHBOUR)
        elif FORK in names:
            engine.select(FORK)
        for name in (REQUEST, NEIGHBOUR):
            engine.select(name)
        if engine.cache.num_stored(NEIGHBOUR) == NEIGHBOUR_STOPS_AT:
            names = (REQUEST, FORK)
