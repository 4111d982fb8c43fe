"""The manager: the article's tables, copy-on-write, refusals that change nothing, and events."""

import dataclasses
from collections.abc import Callable

import pytest

from pagedkv.block_manager import BlockManager, OutOfBlocks
from pagedkv.events import (
    BlockAllocated,
    BlockFreed,
    Event,
    RefCountChanged,
    RequestAdmitted,
    RequestFinished,
    RequestForked,
    RequestRefused,
    TableChanged,
)

MIXED = (3, 0, 1, 4, 5, 2)


def state_of(manager: BlockManager) -> object:
    """All that can be asked of a manager."""
    requests = {
        name: (manager.num_tokens(name), manager.block_table(name)) for name in manager.requests
    }
    counts = [manager.ref_count(block_id) for block_id in range(manager.num_blocks)]
    return manager.requests, requests, manager.free_blocks, manager.num_free_blocks, counts


def refusal(manager: BlockManager, command: Callable[[], object]) -> OutOfBlocks:
    """Expect ``command`` to be refused, and the manager to be as it was."""
    before = state_of(manager)
    with pytest.raises(OutOfBlocks) as caught:
        command()
    assert state_of(manager) == before
    assert manager.check() == []
    return caught.value


def two_responses(num_tokens: int = 6, num_blocks: int = 6) -> BlockManager:
    """R1 with a prompt, and R2 forked from it."""
    manager = BlockManager(num_blocks, 4)
    manager.admit("R1", num_tokens)
    manager.fork("R1", "R2")
    return manager


# The article's requests B and C


def test_b_and_c_get_the_blocks_of_the_article() -> None:
    manager = BlockManager(6, 4, MIXED)
    manager.admit("B", 6)
    assert manager.can_admit(6)
    manager.admit("C", 6)
    assert manager.block_table("B") == (3, 0)
    assert manager.block_table("C") == (1, 4)
    assert manager.free_blocks == (5, 2)
    assert manager.requests == ("B", "C")


def test_b_grows_into_its_empty_slots_and_then_takes_p5() -> None:
    manager = BlockManager(6, 4, MIXED)
    manager.admit("B", 6)
    manager.admit("C", 6)
    assert [manager.append("B").slots for _ in range(2)] == [(2,), (3,)]
    assert manager.block_table("B") == (3, 0)
    plan = manager.append("B")
    assert (plan.slots, plan.positions, plan.new_blocks, plan.copies) == ((20,), (8,), (5,), ())
    assert manager.block_table("B") == (3, 0, 5)
    assert manager.block_table("C") == (1, 4)
    assert manager.num_tokens("B") == 9


def test_position_6_of_b_is_found_by_division_and_one_table_entry() -> None:
    manager = BlockManager(6, 4, MIXED)
    manager.admit("B", 7)
    place = manager.locate("B", 6)
    assert (place.position, place.logical_block, place.offset) == (6, 1, 2)
    assert (place.block_id, place.flat_slot) == (0, 2)


def test_admission_asks_for_the_input_only() -> None:
    manager = BlockManager(2, 4)
    assert manager.can_admit(8)
    manager.admit("B", 8)
    assert not manager.can_append("B")


@pytest.mark.parametrize("block_size", [1, 2, 3, 4, 5, 8, 16])
def test_appending_one_by_one_at_once_or_admitting_gives_the_same_table(block_size: int) -> None:
    for total in range(2, 3 * block_size + 2):
        admitted, bulk, single = (BlockManager(40, block_size) for _ in range(3))
        admitted.admit("B", total)
        bulk.admit("B", 1)
        plan = bulk.append("B", total - 1)
        single.admit("B", 1)
        slots = [slot for _ in range(total - 1) for slot in single.append("B").slots]
        assert state_of(admitted) == state_of(bulk) == state_of(single)
        assert list(plan.slots) == slots
        assert slots == [bulk.locate("B", p).flat_slot for p in range(1, total)]
        assert plan.positions == tuple(range(1, total))


def test_a_bulk_append_fills_the_empty_slots_before_new_blocks() -> None:
    manager = BlockManager(6, 4, MIXED)
    manager.admit("B", 6)
    plan = manager.append("B", 7)
    assert plan.slots == (2, 3, 4, 5, 6, 7, 16)
    assert plan.new_blocks == (1, 4)


def test_blocks_needed_says_what_a_page_prints() -> None:
    manager = BlockManager(6, 4)
    manager.admit("B", 7)
    assert manager.blocks_needed_to_admit(6) == 2
    assert [manager.blocks_needed_to_append("B", n) for n in (1, 2, 5, 6)] == [0, 1, 1, 2]


# Sharing and copy-on-write


def test_a_fork_shares_every_block_and_takes_none() -> None:
    manager = two_responses()
    assert manager.block_table("R1") == manager.block_table("R2") == (0, 1)
    assert manager.num_tokens("R2") == 6
    assert [manager.ref_count(block_id) for block_id in (0, 1, 2)] == [2, 2, 0]
    assert manager.num_free_blocks == 4


@pytest.mark.parametrize(("first", "second"), [("R1", "R2"), ("R2", "R1")])
def test_whoever_writes_first_copies_and_the_other_writes_in_place(first: str, second: str) -> None:
    manager = two_responses()
    plan = manager.append(first)
    assert (plan.copies, plan.slots, plan.new_blocks) == (((1, 2),), (10,), ())
    assert manager.block_table(first) == (0, 2)
    assert (manager.ref_count(0), manager.ref_count(1), manager.ref_count(2)) == (2, 1, 1)
    plan = manager.append(second)
    assert (plan.copies, plan.slots, plan.new_blocks) == ((), (6,), ())
    assert manager.block_table(second) == (0, 1)
    assert manager.num_blocks - manager.num_free_blocks == 3


def test_of_three_sharers_the_last_writer_keeps_the_block() -> None:
    manager = two_responses()
    manager.fork("R2", "R3")
    assert [manager.append(name).copies for name in ("R2", "R1", "R3")] == [
        ((1, 2),),
        ((1, 3),),
        (),
    ]


def test_a_sole_owner_again_writes_in_place() -> None:
    manager = two_responses()
    manager.free("R1")
    assert manager.append("R2").copies == ()


def test_a_copy_needs_a_free_block_though_the_shared_one_has_empty_slots() -> None:
    manager = two_responses(num_blocks=2)
    assert manager.blocks_needed_to_append("R1") == 1
    assert not manager.can_append("R1")
    error = refusal(manager, lambda: manager.append("R1"))
    assert (error.needed, error.free, error.total, error.reason) == (1, 0, 2, "wait")


def test_a_bulk_append_counts_the_copy_and_the_new_blocks() -> None:
    manager = two_responses(num_blocks=4)
    assert [manager.blocks_needed_to_append("R1", n) for n in (2, 3, 6)] == [1, 2, 2]
    plan = manager.append("R1", 6)
    assert (plan.copies, plan.new_blocks) == (((1, 2),), (3,))
    assert plan.slots == (10, 11, 12, 13, 14, 15)
    assert manager.block_table("R1") == (0, 2, 3)


def test_a_fork_after_the_end_of_its_parent_keeps_its_blocks() -> None:
    manager = two_responses()
    manager.free("R1")
    assert manager.block_table("R2") == (0, 1)
    assert manager.free_blocks == (2, 3, 4, 5)


# Ending


def test_the_first_block_of_an_ended_request_is_the_next_one_given() -> None:
    manager = BlockManager(6, 4, MIXED)
    manager.admit("B", 9)
    manager.admit("C", 6)
    manager.free("B")
    assert manager.free_blocks == (3, 0, 1, 2)
    manager.admit("D", 6)
    assert manager.block_table("D") == (3, 0)


def test_the_request_that_ended_last_gives_its_blocks_first() -> None:
    manager = BlockManager(6, 4)
    manager.admit("B", 8)
    manager.admit("C", 8)
    manager.free("B")
    manager.free("C")
    assert manager.free_blocks == (2, 3, 0, 1, 4, 5)


def test_shared_blocks_stay_and_private_ones_go_back() -> None:
    manager = two_responses()
    manager.append("R1")
    manager.append("R2")
    manager.free("R1")
    assert manager.free_blocks == (2, 3, 4, 5)
    assert (manager.ref_count(0), manager.ref_count(1)) == (1, 1)
    manager.free("R2")
    assert manager.free_blocks == (0, 1, 2, 3, 4, 5)


def test_a_name_can_be_used_again_after_its_request_ended() -> None:
    manager = BlockManager(6, 4)
    manager.admit("B", 6)
    manager.free("B")
    manager.admit("B", 3)
    assert (manager.requests, manager.num_tokens("B")) == (("B",), 3)


# Refusals: no room


def test_a_request_that_an_empty_pool_would_hold_has_to_wait() -> None:
    manager = BlockManager(6, 4)
    manager.admit("B", 16)
    assert not manager.can_admit(9)
    error = refusal(manager, lambda: manager.admit("C", 9))
    assert (error.request, error.needed, error.free, error.total) == ("C", 3, 2, 6)
    assert error.reason == "wait"
    assert str(error) == "C needs 3 blocks, 2 of 6 are free: it has to wait"


@pytest.mark.parametrize(
    ("stored", "asked", "words"),
    [
        (24, 1, "C needs 1 block, none of 6 is free: it has to wait"),
        (20, 5, "C needs 2 blocks, 1 of 6 is free: it has to wait"),
        (16, 9, "C needs 3 blocks, 2 of 6 are free: it has to wait"),
    ],
)
def test_a_refusal_counts_in_words(stored: int, asked: int, words: str) -> None:
    manager = BlockManager(6, 4)
    manager.admit("B", stored)
    assert str(refusal(manager, lambda: manager.admit("C", asked))) == words


def test_a_request_larger_than_the_pool_never_fits() -> None:
    manager = BlockManager(6, 4)
    error = refusal(manager, lambda: manager.admit("B", 25))
    assert (error.needed, error.free, error.total, error.reason) == (7, 6, 6, "never fits")
    assert str(error) == "B needs 7 blocks, 6 of 6 are free: it never fits"


def test_an_append_that_would_outgrow_the_pool_never_fits() -> None:
    manager = BlockManager(2, 4)
    manager.admit("B", 8)
    error = refusal(manager, lambda: manager.append("B"))
    assert (error.needed, error.free, error.total, error.reason) == (1, 0, 2, "never fits")
    assert str(error) == "B needs 1 block, 3 in all, none of 2 is free: it never fits"


def test_an_append_that_others_stand_in_the_way_of_has_to_wait() -> None:
    manager = BlockManager(2, 4)
    manager.admit("B", 4)
    manager.admit("C", 4)
    error = refusal(manager, lambda: manager.append("B"))
    assert str(error) == "B needs 1 block, none of 2 is free: it has to wait"
    manager.free("C")
    assert manager.append("B").new_blocks == (1,)


def test_a_bulk_append_is_all_or_nothing() -> None:
    manager = BlockManager(3, 4)
    manager.admit("B", 6)
    assert manager.can_append("B", 6)
    assert not manager.can_append("B", 7)
    error = refusal(manager, lambda: manager.append("B", 7))
    assert (error.needed, error.free, error.reason) == (2, 1, "never fits")


def test_a_pool_of_no_blocks_refuses_everyone_for_ever() -> None:
    manager = BlockManager(0, 32)
    assert not manager.can_admit(1)
    assert refusal(manager, lambda: manager.admit("B", 1)).reason == "never fits"
    assert (manager.free_blocks, manager.num_blocks) == ((), 0)


def test_a_huge_request_is_refused_at_once() -> None:
    manager = BlockManager(6, 4)
    manager.admit("B", 1)
    assert refusal(manager, lambda: manager.append("B", 10**18)).reason == "never fits"


# Refusals: wrong arguments


@pytest.mark.parametrize("number", [0, -1, True, 6.0, "6", None])
def test_a_number_of_tokens_that_is_none_is_named(number: int) -> None:
    manager = BlockManager(6, 4)
    manager.admit("B", 6)
    before = state_of(manager)
    calls = {
        "num_tokens": (lambda: manager.can_admit(number), lambda: manager.admit("C", number)),
        "n": (lambda: manager.can_append("B", number), lambda: manager.append("B", number)),
    }
    for argument, bad_calls in calls.items():
        for call in bad_calls:
            with pytest.raises(ValueError, match=f"^{argument} .* at least 1, got {number!r}"):
                call()
    assert state_of(manager) == before


@pytest.mark.parametrize("block_size", [0, -4, True, 4.0, "4", None])
def test_a_block_size_that_is_none_is_named(block_size: int) -> None:
    with pytest.raises(ValueError, match=f"block_size .* at least 1, got {block_size!r}"):
        BlockManager(6, block_size)


def test_the_pools_own_arguments_are_checked_too() -> None:
    with pytest.raises(ValueError, match=r"num_blocks .* at least 0, got -1"):
        BlockManager(-1, 4)
    with pytest.raises(ValueError, match=r"free_order .* got \[0, 0\]"):
        BlockManager(2, 4, [0, 0])


@pytest.mark.parametrize("name", ["Z", "", None, 7, ["B"]])
def test_an_unknown_name_is_named(name: str) -> None:
    manager = BlockManager(6, 4)
    manager.admit("B", 6)
    before = state_of(manager)
    calls = (
        lambda: manager.num_tokens(name),
        lambda: manager.block_table(name),
        lambda: manager.locate(name, 0),
        lambda: manager.can_append(name),
        lambda: manager.append(name),
        lambda: manager.fork(name, "C"),
        lambda: manager.free(name),
    )
    for call in calls:
        with pytest.raises(ValueError, match=r"^name must be ") as caught:
            call()
        assert repr(name) in str(caught.value)
    assert state_of(manager) == before


def test_a_name_that_is_taken_is_refused() -> None:
    manager = BlockManager(6, 4)
    manager.admit("B", 6)
    manager.admit("C", 2)
    before = state_of(manager)
    for call in (
        lambda: manager.admit("B", 6),
        lambda: manager.fork("C", "B"),
        lambda: manager.fork("B", "B"),
    ):
        with pytest.raises(ValueError, match="must be new, and there is a request 'B'"):
            call()
    assert state_of(manager) == before


@pytest.mark.parametrize("name", ["", None, 7, ["B"]])
def test_a_new_name_is_a_text(name: str) -> None:
    manager = BlockManager(6, 4)
    manager.admit("B", 6)
    before = state_of(manager)
    for call in (lambda: manager.admit(name, 6), lambda: manager.fork("B", name)):
        with pytest.raises(ValueError, match="must be a text that is not empty"):
            call()
    assert state_of(manager) == before


@pytest.mark.parametrize("position", [-1, 6, True, 2.0, "2", None])
def test_a_position_that_the_request_has_not_is_named(position: int) -> None:
    manager = BlockManager(6, 4)
    manager.admit("B", 6)
    with pytest.raises(ValueError, match=f"position .* from 0 to 5, got {position!r}"):
        manager.locate("B", position)


def test_a_block_id_that_the_pool_has_not_is_named() -> None:
    with pytest.raises(ValueError, match=r"block_id .* from 0 to 5, got -1"):
        BlockManager(6, 4).ref_count(-1)
    with pytest.raises(ValueError, match="block_id cannot be 0: there is none"):
        BlockManager(0, 4).ref_count(0)


# Questions change nothing


def test_questions_change_nothing_and_say_nothing() -> None:
    events: list[Event] = []
    manager = BlockManager(3, 4, on_event=events.append)
    manager.admit("R1", 6)
    manager.fork("R1", "R2")
    before, heard = state_of(manager), len(events)
    assert [manager.can_admit(n) for n in (4, 5)] == [True, False]
    assert [manager.can_append("R1", n) for n in (2, 3)] == [True, False]
    assert manager.locate("R1", 5).flat_slot == 5
    assert manager.check() == []
    assert (state_of(manager), len(events)) == (before, heard)


def test_can_append_is_true_exactly_where_append_succeeds() -> None:
    for num_blocks in range(2, 6):
        for n in range(1, 20):
            manager = two_responses(num_blocks=num_blocks)
            if manager.can_append("R1", n):
                assert manager.append("R1", n).positions == tuple(range(6, 6 + n))
            else:
                assert refusal(manager, lambda m=manager, k=n: m.append("R1", k)).request == "R1"


def test_what_leaves_the_manager_cannot_be_changed() -> None:
    manager = BlockManager(6, 4)
    manager.admit("B", 6)
    plan, table = manager.append("B"), manager.block_table("B")
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.slots = ()
    manager.append("B", 2)
    assert table == (0, 1)
    assert isinstance(manager.free_blocks, tuple)


# Events


def heard_by(manager_events: list[Event]) -> list[Event]:
    """Take what was heard since the last call."""
    heard = list(manager_events)
    manager_events.clear()
    return heard


def test_admission_announces_the_request_and_then_its_blocks() -> None:
    events: list[Event] = []
    manager = BlockManager(6, 4, MIXED, on_event=events.append)
    manager.admit("B", 6)
    assert events == [
        RequestAdmitted("B", 6, 2),
        BlockAllocated("B", 0, 3),
        TableChanged("B", 0, None, 3),
        BlockAllocated("B", 1, 0),
        TableChanged("B", 1, None, 0),
    ]


def test_an_append_announces_new_blocks_only() -> None:
    events: list[Event] = []
    manager = BlockManager(6, 4, MIXED, on_event=events.append)
    manager.admit("B", 7)
    heard_by(events)
    manager.append("B")
    assert heard_by(events) == []
    manager.append("B")
    assert heard_by(events) == [BlockAllocated("B", 2, 1), TableChanged("B", 2, None, 1)]


def test_fork_copy_on_write_and_end_are_announced_with_their_counts() -> None:
    events: list[Event] = []
    manager = BlockManager(6, 4, on_event=events.append)
    manager.admit("R1", 6)
    heard_by(events)
    manager.fork("R1", "R2")
    assert heard_by(events) == [
        RequestForked("R1", "R2", 2),
        RefCountChanged(0, 1, 2),
        RefCountChanged(1, 1, 2),
    ]
    manager.append("R1", 3)
    assert heard_by(events) == [
        BlockAllocated("R1", 1, 2),
        TableChanged("R1", 1, 1, 2),
        RefCountChanged(1, 2, 1),
        BlockAllocated("R1", 2, 3),
        TableChanged("R1", 2, None, 3),
    ]
    manager.free("R1")
    assert heard_by(events) == [
        RequestFinished("R1"),
        RefCountChanged(3, 1, 0),
        BlockFreed(3),
        RefCountChanged(2, 1, 0),
        BlockFreed(2),
        RefCountChanged(0, 2, 1),
    ]


def test_a_refusal_is_the_only_thing_announced() -> None:
    events: list[Event] = []
    manager = BlockManager(2, 4, on_event=events.append)
    manager.admit("B", 4)
    manager.admit("C", 4)
    heard_by(events)
    refusal(manager, lambda: manager.admit("D", 4))
    refusal(manager, lambda: manager.append("B", 5))
    assert heard_by(events) == [
        RequestRefused("D", 1, 0, 2, "wait"),
        RequestRefused("B", 2, 0, 2, "never fits"),
    ]


def test_wrong_arguments_are_not_announced() -> None:
    events: list[Event] = []
    manager = BlockManager(2, 4, on_event=events.append)
    for call in (lambda: manager.admit("B", 0), lambda: manager.free("B")):
        with pytest.raises(ValueError, match="must be"):
            call()
    assert events == []


def test_a_listener_finds_the_whole_command_done() -> None:
    seen: list[object] = []
    manager = BlockManager(
        6, 4, on_event=lambda event: seen.append((state_of(manager), manager.check()))
    )
    commands: list[Callable[[], object]] = [
        lambda: manager.admit("R1", 6),
        lambda: manager.fork("R1", "R2"),
        lambda: manager.append("R1", 3),
        lambda: manager.free("R1"),
    ]
    for command in commands:
        seen.clear()
        command()
        assert len(seen) >= 3
        assert seen == [(state_of(manager), [])] * len(seen)


class Deaf(Exception):
    """What the listener below raises."""


def test_a_listener_that_raises_leaves_the_command_done_and_the_manager_whole() -> None:
    def complain(event: Event) -> None:
        raise Deaf

    loud, quiet = BlockManager(3, 4, on_event=complain), BlockManager(3, 4)
    for step in (
        lambda manager: manager.admit("R1", 6),
        lambda manager: manager.fork("R1", "R2"),
        lambda manager: manager.append("R1"),
        lambda manager: manager.free("R1"),
    ):
        with pytest.raises(Deaf):
            step(loud)
        step(quiet)
        assert state_of(loud) == state_of(quiet)
        assert loud.check() == []


# check() can object


def broken(break_it: Callable[[BlockManager], object]) -> list[str]:
    manager = two_responses()
    assert manager.check() == []
    break_it(manager)
    return manager.check()


def test_check_sees_a_wrong_ref_count() -> None:
    def forget_a_share(manager: BlockManager) -> None:
        manager._pool._ref_counts[1] = 1

    assert broken(forget_a_share) == ["P1: ref count 1, table entries 2"]


def test_check_sees_a_table_entry_that_points_to_a_free_block() -> None:
    def redirect(manager: BlockManager) -> None:
        manager._requests["R2"].block_table[1] = 5

    assert broken(redirect) == [
        "4 free + 3 in use is not 6",
        "P1: ref count 2, table entries 1",
        "P5: ref count 0, table entries 1",
    ]


def test_check_sees_a_table_that_is_too_short() -> None:
    def miscount(manager: BlockManager) -> None:
        manager._requests["R2"].num_tokens = 9

    assert broken(miscount) == ["R2 has 9 positions in 2 blocks, not 3"]


def test_check_sees_a_block_taken_too_early() -> None:
    def take_one_more(manager: BlockManager) -> None:
        manager._requests["R2"].block_table.append(manager._pool.take())

    assert broken(take_one_more) == ["R2 has 6 positions in 3 blocks, not 2"]


def test_check_sees_a_lost_block() -> None:
    def drop_the_request(manager: BlockManager) -> None:
        del manager._requests["R2"]
        manager._pool._ref_counts[0] = 1

    assert broken(drop_the_request) == ["P1: ref count 2, table entries 1"]


def test_check_sees_one_block_twice_in_a_table() -> None:
    def point_twice(manager: BlockManager) -> None:
        manager._requests["R2"].block_table[1] = 0
        manager._pool._ref_counts[:2] = [3, 1]

    assert broken(point_twice) == ["R2 has P0 in its table 2 times"]


def test_check_passes_on_what_the_pool_finds() -> None:
    def free_twice(manager: BlockManager) -> None:
        manager._pool._free.append(5)

    assert broken(free_twice) == ["P5 is on the free list 2 times", "5 free + 2 in use is not 6"]
