"""Labels of what slots' bytes stand for, through writes, copies and the end of requests."""

import pytest

from pagedkv.events import BlockAllocated, BlockCopied, BlockFreed, SlotsWritten
from pagedkv.slot_history import SlotContent, SlotHistory

TEXTS = {"R1": "To be,", "R2": "NaNa", "D": "No"}
tokens_of = TEXTS.__getitem__


@pytest.fixture
def history() -> SlotHistory:
    """Block size 4: R1's positions 0 to 5 lie in P0 and P1."""
    history = SlotHistory(block_size=4)
    history.note(SlotsWritten("R1", (0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5)), tokens_of)
    return history


def test_a_slot_that_was_never_written_has_no_content(history):
    assert history.content(6) is None


def test_a_write_labels_its_slots(history):
    assert history.content(0) == SlotContent(0, "T")
    assert history.content(5) == SlotContent(5, ",")


def test_a_later_write_replaces_the_label(history):
    history.note(SlotsWritten("D", (0, 1), (0, 1)), tokens_of)
    assert history.content(0) == SlotContent(0, "N")
    assert history.content(2) == SlotContent(2, " ")


def test_a_copy_carries_the_labels_along(history):
    history.note(BlockCopied("R1", 1, 2, (4, 5)), tokens_of)
    assert history.content(8) == history.content(4) == SlotContent(4, "e")
    assert history.content(9) == SlotContent(5, ",")
    assert history.content(10) is None


def test_a_copy_overwrites_old_bytes_with_never_written_ones_too(history):
    history.note(SlotsWritten("R2", (8, 9, 10, 11), (0, 1, 2, 3)), tokens_of)
    history.note(BlockCopied("R1", 1, 2, (4, 5)), tokens_of)
    assert [history.content(slot) for slot in (10, 11)] == [None, None]


def test_it_says_which_slots_an_event_gave_new_bytes(history):
    assert history.note(SlotsWritten("R2", (8, 9), (0, 1)), tokens_of) == {8, 9}
    assert history.note(BlockCopied("R1", 1, 2, (4, 5)), tokens_of) == {8, 9}
    assert history.note(BlockAllocated("nobody", 0, 0), tokens_of) == set()


def test_freeing_leaves_the_labels_where_they_are(history):
    history.note(BlockFreed(0), tokens_of)
    history.note(BlockAllocated("D", 0, 0), tokens_of)
    assert history.content(0) == SlotContent(0, "T")
