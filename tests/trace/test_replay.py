"""The events of a frame explain all that changed on the board since the frame before."""

from dataclasses import replace

import pytest
from replay import Board, assert_same

from pagedkv.events import RefCountChanged, SlotsWritten
from pagedkv.lessons import LESSONS
from pagedkv.settings import Settings
from pagedkv.trace.frame import Trace

SETTINGS = [
    Settings(),
    Settings(prompt_length=8),  # the prompt fills its blocks
    Settings(block_size=1),
    Settings(block_size=5, capacity=23, prompt_length=5),
    Settings(capacity=8),  # the shared prompt fits, and not one block more
    Settings(capacity=12),  # B fits and C does not
    Settings(block_size=32, capacity=4),  # no block at all
]


def initial_free_list(trace: Trace) -> list[int]:
    """The order that lessons 1 to 4 set, and the plain one of lessons 5 to 7."""
    num_blocks = trace.settings.num_blocks
    if trace.figure in (1, 2, 3, 4):
        return [b for b in (3, 0, 1, 4, 5, 2, *range(6, num_blocks)) if b < num_blocks]
    return list(range(num_blocks))


def empty_board(trace: Trace) -> Board:
    return Board(trace.settings.block_size, initial_free_list(trace))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("slug", [lesson.slug for lesson in LESSONS])
def test_events_lead_from_each_frames_board_to_the_next(slug, settings, recorded):
    trace = recorded(slug, **{name: getattr(settings, name) for name in settings.__slots__})
    board = empty_board(trace)
    for frame in trace.frames:
        if not all(map(board.knows, frame.events)):
            board = empty_board(trace)  # the lesson put a new pool on the board
        for event in frame.events:
            board.play(event)
        assert_same(board, frame.state)


def test_only_the_shared_prefix_lesson_changes_the_pool_midway(recorded):
    for lesson in LESSONS:
        trace = recorded(lesson.slug)
        board, pools = empty_board(trace), 1
        for frame in trace.frames:
            if not all(map(board.knows, frame.events)):
                board, pools = empty_board(trace), pools + 1
            for event in frame.events:
                board.play(event)
        assert pools == (2 if lesson.slug == "shared-prefix" else 1)


def test_the_replay_objects_to_a_missing_event(recorded):
    trace = recorded("copy-on-write")
    board = empty_board(trace)
    with pytest.raises(AssertionError):
        for frame in trace.frames:
            for event in frame.events:
                if not isinstance(event, RefCountChanged):
                    board.play(event)
            assert_same(board, frame.state)


def test_the_replay_objects_to_a_pending_token_that_ought_to_be_gone(recorded):
    trace = recorded("growth")
    board = empty_board(trace)
    appended = 0
    for frame in trace.frames:
        for event in frame.events:
            board.play(event)
        b, *others = frame.state.requests
        if b.num_tokens > b.num_stored:
            appended += 1
            still_pending = replace(b, pending_token=board.pending["B"])
            with pytest.raises(AssertionError):
                assert_same(board, replace(frame.state, requests=(still_pending, *others)))
    assert appended


def test_the_replay_objects_to_a_wrong_slot(recorded):
    (written,) = [
        e
        for frame in recorded("growth").frames
        for e in frame.events
        if isinstance(e, SlotsWritten) and e.positions == (8,)
    ]
    board = Board(4, [1], {"B": [3, 0, 5]}, {"B": 8}, {3: 1, 0: 1, 5: 1}, pending={"B": "x"})
    board.play(written)
    board = Board(4, [1], {"B": [3, 0, 2]}, {"B": 8}, {3: 1, 0: 1, 2: 1}, pending={"B": "x"})
    with pytest.raises(AssertionError):
        board.play(written)


def test_written_now_marks_what_was_written_or_copied_since_the_frame_before(recorded):
    for slug in ("growth", "copy-on-write", "freeing"):
        for frame in recorded(slug).frames[1:]:
            assert marked(frame) == new_bytes(frame)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_a_first_frame_marks_what_its_last_execution_wrote_and_no_more(lesson, recorded):
    """Whatever led to it is no news: its marks agree with the execution that it shows."""
    frame = recorded(lesson.slug).frames[0]
    tables = {request.name: request.block_table for request in frame.state.requests}
    written = {
        4 * tables[count.request][position // 4] + position % 4
        for count in (frame.execution.inputs if frame.execution else ())
        for position in range(count.first_position, count.first_position + count.num_tokens)
    }
    assert marked(frame) == written
    assert len(written) == (frame.execution.num_tokens if frame.execution else 0)


def marked(frame) -> set[int]:
    return {
        4 * block.block_id + offset
        for block in frame.state.blocks
        for offset, slot in enumerate(block.slots)
        if slot.written_now
    }


def new_bytes(frame) -> set[int]:
    """Slots that a write or a copy of this frame filled, and that still belong to someone."""
    filled = set()
    for event in frame.events:
        if isinstance(event, SlotsWritten):
            filled |= set(event.slots)
        if type(event).__name__ == "BlockCopied":
            filled |= {4 * event.destination + p % 4 for p in event.positions}
    owned = {b for request in frame.state.requests for b in request.block_table}
    return {slot for slot in filled if slot // 4 in owned}
