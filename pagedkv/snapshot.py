"""The engine at one moment as frozen views: what the board shows, and the sums under it."""

from collections import Counter
from collections.abc import Collection, Sequence

from pagedkv.engine import Engine
from pagedkv.layout import flat_slot
from pagedkv.slot_history import SlotHistory
from pagedkv.trace.state import BlockView, RequestView, SlotView, State, Totals


def take_snapshot(
    engine: Engine,
    history: SlotHistory,
    waiting: Sequence[str] = (),
    written_now: Collection[int] = (),
) -> State:
    """Freeze what is true now. ``written_now`` are the flat slots to mark as just written."""
    requests = tuple(_request(engine, name) for name in engine.requests)
    blocks = tuple(
        _block(engine, history, block_id, requests, written_now)
        for block_id in range(engine.cache.config.num_blocks)
    )
    return State(
        requests=requests,
        waiting=tuple(waiting),
        blocks=blocks,
        free_blocks=engine.cache.free_blocks,
        totals=_totals(engine, requests, blocks),
    )


def _request(engine: Engine, name: str) -> RequestView:
    return RequestView(
        name=name,
        tokens=engine.tokens(name),
        num_tokens=engine.cache.num_tokens(name),
        num_stored=engine.cache.num_stored(name),
        pending_token=engine.pending_token(name),
        block_table=engine.cache.block_table(name),
        prompt_length=engine.prompt_length(name),
    )


def _block(
    engine: Engine,
    history: SlotHistory,
    block_id: int,
    requests: Sequence[RequestView],
    written_now: Collection[int],
) -> BlockView:
    block_size = engine.cache.config.block_size
    owners = [request for request in requests if block_id in request.block_table]
    slots = []
    for offset in range(block_size):
        slot = flat_slot(block_id, offset, block_size)
        if owners:
            view = _owned_slot(owners, block_id, offset, block_size, slot in written_now)
        else:
            view = _unowned_slot(history, slot)
        slots.append(view)
    return BlockView(block_id, engine.cache.ref_count(block_id), tuple(slots))


def _owned_slot(
    owners: Sequence[RequestView], block_id: int, offset: int, block_size: int, written_now: bool
) -> SlotView:
    # Whoever shares a block shares it as the same logical block: one position per slot.
    position = owners[0].block_table.index(block_id) * block_size + offset
    stored = any(owner.num_stored > position for owner in owners)
    tokens = [owner.tokens[position] for owner in owners if owner.num_tokens > position]
    return SlotView(
        state="stored" if stored else "empty",
        owners=tuple(owner.name for owner in owners),
        position=position,
        token=tokens[0] if tokens else None,
        written_now=written_now,
    )


def _unowned_slot(history: SlotHistory, slot: int) -> SlotView:
    content = history.content(slot)
    if content is None:
        return SlotView("free", (), None, None, False)
    return SlotView("stale", (), content.position, content.token, False)


def _totals(engine: Engine, requests: Sequence[RequestView], blocks: Sequence[BlockView]) -> Totals:
    """Count each from where it is kept, none from the others: the ledger's sums can fail."""
    config = engine.cache.config
    slots = Counter(slot.state for block in blocks for slot in block.slots)
    in_use = sum(block.ref_count > 0 for block in blocks)
    return Totals(
        capacity_slots=config.num_blocks * config.block_size,
        allocated_slots=in_use * config.block_size,
        stored_slots=slots["stored"],
        empty_slots=slots["empty"],
        free_slots=slots["free"] + slots["stale"],
        blocks_in_use=in_use,
        free_blocks=engine.cache.num_free_blocks,
        table_entries=sum(len(request.block_table) for request in requests),
    )
