"""The K and V behind each slot, read from the pool: old ones stay old, copies are equal."""

import numpy as np
import pytest

import kernels
from pagedkv.engine import Engine
from pagedkv.events import BlockCopied, SlotsWritten
from pagedkv.model import load_model
from pagedkv.slot_history import SlotHistory
from pagedkv.vectors import VectorStore


@pytest.fixture
def written(recorded):
    """``written(slug)`` yields each frame with (state of the slot, its vector) by flat slot."""

    def read(slug: str):
        trace = recorded(slug)
        for frame in trace.frames:
            ids = [i for block in frame.vector_ids for i in block]
            slots = [slot for block in frame.state.blocks for slot in block.slots]
            yield frame, list(zip(slots, ids, strict=True)), trace.vectors

    return read


def test_vectors_are_k_and_v_of_all_layers_and_kv_heads(recorded):
    vectors = recorded("growth").vectors
    assert vectors.dtype == np.float32
    assert vectors.shape[1:] == (2, 3, 2, 32)
    assert not vectors.flags.writeable


def test_a_slots_vector_is_the_k_and_v_that_the_pool_holds():
    history, store = SlotHistory(4), VectorStore(range(3))
    model = load_model(kernels.runtime()["device"])
    engine = Engine(model, block_size=4, num_blocks=3)
    engine.admit("B", "ROMEO:")
    engine.execute("B")
    history.note(SlotsWritten("B", tuple(range(6)), tuple(range(6))), engine.text)
    ids = store.take(engine.cache, history)
    vectors = store.stacked(engine.cache.config)
    for position in range(6):
        block_id, offset = divmod(position, 4)
        k, v = vectors[ids[block_id][offset]]
        assert np.array_equal(k, engine.cache.k_cache[:, block_id, offset].cpu().numpy())
        assert np.array_equal(v, engine.cache.v_cache[:, block_id, offset].cpu().numpy())
    assert ids[1][2:] == (None, None) and ids[2] == (None,) * 4


def test_equal_vectors_stand_once(recorded):
    vectors = recorded("freeing").vectors
    assert len({vector.tobytes() for vector in vectors}) == len(vectors)


@pytest.mark.parametrize("slug", ["growth", "copy-on-write", "freeing"])
def test_a_stored_or_stale_slot_has_a_vector_and_a_free_one_has_none(slug, written):
    for _, slots, vectors in written(slug):
        for slot, vector_id in slots:
            if slot.state in ("stored", "stale"):
                assert np.isfinite(vectors[vector_id]).all()
            if slot.state == "free":
                assert vector_id is None


def test_a_stale_slot_keeps_the_vector_it_had_when_it_was_stored(recorded):
    trace = recorded("freeing")
    last_stored: dict[int, int] = {}
    num_stale = 0
    for frame in trace.frames:
        for block, ids in zip(frame.state.blocks, frame.vector_ids, strict=True):
            for offset, (slot, vector_id) in enumerate(zip(block.slots, ids, strict=True)):
                flat = 4 * block.block_id + offset
                if slot.state == "stored":
                    last_stored[flat] = vector_id
                if slot.state == "stale":
                    num_stale += 1
                    assert vector_id == last_stored[flat]
    assert num_stale > 10


def test_a_copy_gives_equal_vectors_and_the_next_writes_differ(recorded):
    frames = recorded("copy-on-write").frames
    copied = next(f for f in frames if any(isinstance(e, BlockCopied) for e in f.events))
    assert copied.vector_ids[1][:2] == copied.vector_ids[2][:2]
    last = frames[-1].vector_ids
    assert last[1][:2] == last[2][:2]
    assert last[1][2] != last[2][2]


def test_no_two_stored_positions_have_the_same_vector(recorded):
    """B and C spell with some of the same letters; their K and V differ all the same."""
    frame = recorded("block-table").frames[0]
    stored = [
        vector_id
        for block, ids in zip(frame.state.blocks, frame.vector_ids, strict=True)
        for slot, vector_id in zip(block.slots, ids, strict=True)
        if slot.state == "stored"
    ]
    assert len(set(stored)) == len(stored) == 13
