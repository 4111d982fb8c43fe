"""A rehearsal answers as its manager would, and nothing of it reaches the manager."""

from pagedkv.block_manager import BlockManager
from pagedkv.events import Event


def test_it_goes_on_as_the_manager_would_and_leaves_it_alone():
    heard: list[Event] = []
    manager = BlockManager(4, 2, (3, 1, 0, 2), on_event=heard.append)
    manager.admit("A", 3)
    manager.fork("A", "B")
    told = len(heard)
    twin = manager.rehearsal()
    planned = twin.append("A"), twin.append("B", 2)
    twin.free("A")
    twin.admit("C", 1)
    assert len(heard) == told and manager.requests == ("A", "B")
    assert manager.check() == twin.check() == []
    assert (manager.append("A"), manager.append("B", 2)) == planned
