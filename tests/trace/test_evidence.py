"""What a frame shows as proof is what happened, not what would be true of it now."""

import pytest

import kernels
from pagedkv.engine import Engine
from pagedkv.evidence import attention_views
from pagedkv.model import load_model


@pytest.fixture
def engine() -> Engine:
    """R1 and R2 share a prompt of 6, in P0 and P1; R1 has attended."""
    engine = Engine(load_model(kernels.runtime()["device"]), block_size=4, num_blocks=6)
    engine.admit("R1", "To be,")
    engine.execute("R1")
    engine.fork("R1", "R2")
    return engine


def test_old_attention_keeps_the_blocks_it_read_when_the_table_has_changed(engine):
    before = attention_views(engine, ["R1"])
    assert before[-1].block_ids == (0, 0, 0, 0, 1, 1)
    engine.select("R1")
    engine.append("R1")  # copies P1 to P2
    assert repr(attention_views(engine, ["R1"])) == repr(before)


def test_old_attention_skipped_the_blocks_that_were_in_use_then(engine):
    engine.admit("C", "JULIET")
    (view, *_) = attention_views(engine, ["R1"])
    assert (view.skipped_blocks, view.skipped_slots) == ((), 7)
    engine.execute("C")
    (view, *_) = attention_views(engine, ["C"])
    assert view.skipped_blocks == (0, 1)
    engine.finish("R1")
    engine.finish("R2")
    (view, *_) = attention_views(engine, ["C"])
    assert view.skipped_blocks == (0, 1)
