"""Many learners, one computation: the store that every page asks for its lesson run."""

from collections.abc import Callable
from threading import Event, Thread

import pytest

from pagedkv.lessons.base import Lesson
from pagedkv.recorder import OnProgress
from pagedkv.run_store import Abandoned, Progress, RunStore
from pagedkv.settings import Settings

PATIENCE = 10.0  # seconds; only ever reached by a test that fails


def lesson(slug: str = "growth") -> Lesson:
    return Lesson(
        slug=slug,
        order=1,
        figure=None,
        title="",
        question="",
        takeaway="",
        minutes=1,
        in_engines_today=(),
        frames={},
        script=lambda recorder: None,
    )


class Workshop:
    """A ``make`` that waits until a test lets it go on, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.begun = Event()
        self.go_on = Event()
        self.ended_by: list[type[BaseException]] = []

    def make(self, lesson: Lesson, settings: Settings, on_progress: OnProgress) -> str:
        self.asked.append((lesson.slug, settings.block_size))
        on_progress(1, "first frame")
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        try:
            on_progress(2, "second frame")
        except Abandoned as error:
            self.ended_by.append(type(error))
            raise
        return f"{lesson.slug} at block size {settings.block_size}"


@pytest.fixture
def workshop() -> Workshop:
    return Workshop()


def in_threads(count: int, act: Callable[[], object]) -> list[Thread]:
    threads = [Thread(target=act, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def wait_until(condition: Callable[[], bool]) -> None:
    pause = Event()
    for _ in range(1000):
        if condition():
            return
        pause.wait(PATIENCE / 1000)
    raise AssertionError("what the test waited for did not happen")


def test_thirty_learners_who_ask_at_once_cause_one_computation(workshop: Workshop) -> None:
    store = RunStore(workshop.make, max_entries=4)
    got: list[str] = []
    threads = in_threads(30, lambda: got.append(store.get(lesson(), Settings(block_size=5))))
    assert workshop.begun.wait(PATIENCE)
    workshop.go_on.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert got == ["growth at block size 5"] * 30
    assert workshop.asked == [("growth", 5)]


def test_a_finished_run_is_found_without_computing_again(workshop: Workshop) -> None:
    store = RunStore(workshop.make, max_entries=4)
    workshop.go_on.set()
    made = store.get(lesson(), Settings())
    assert store.get(lesson(), Settings()) is made
    assert len(workshop.asked) == 1


def test_joining_a_run_that_has_just_ended_does_not_start_another(workshop: Workshop) -> None:
    store = RunStore(workshop.make, max_entries=4)
    workshop.go_on.set()
    store.get(lesson(), Settings())
    with store.waiting_for(lesson(), Settings()) as run:
        assert run.wait(0)
        assert run.result() == "growth at block size 4"
    assert len(workshop.asked) == 1


def test_every_waiter_sees_the_progress(workshop: Workshop) -> None:
    store = RunStore(workshop.make, max_entries=4)
    with (
        store.waiting_for(lesson(), Settings()) as mine,
        store.waiting_for(lesson(), Settings()) as theirs,
    ):
        assert workshop.begun.wait(PATIENCE)
        assert not mine.wait(0)
        assert mine.progress == theirs.progress == Progress(1, "first frame")
        workshop.go_on.set()
        assert mine.wait(PATIENCE)
        assert theirs.progress == Progress(2, "second frame")


def test_a_run_for_which_nobody_waits_any_more_is_stopped_and_not_kept(workshop: Workshop) -> None:
    store = RunStore(workshop.make, max_entries=4)
    with store.waiting_for(lesson(), Settings()):
        assert workshop.begun.wait(PATIENCE)
    workshop.go_on.set()
    wait_until(lambda: bool(workshop.ended_by))
    assert len(store) == 0


def test_a_run_goes_on_while_one_learner_still_waits(workshop: Workshop) -> None:
    store = RunStore(workshop.make, max_entries=4)
    with store.waiting_for(lesson(), Settings()) as run:
        with store.waiting_for(lesson(), Settings()):
            assert workshop.begun.wait(PATIENCE)
        workshop.go_on.set()
        assert run.result() == "growth at block size 4"
    assert workshop.ended_by == []


def test_who_asks_after_a_run_was_abandoned_gets_a_new_one(workshop: Workshop) -> None:
    store = RunStore(workshop.make, max_entries=4)
    with store.waiting_for(lesson(), Settings()):
        assert workshop.begun.wait(PATIENCE)
    with store.waiting_for(lesson(), Settings()) as run:
        workshop.go_on.set()
        assert run.result() == "growth at block size 4"
    assert len(workshop.asked) == 2


def test_a_queued_run_that_was_abandoned_is_never_begun(workshop: Workshop) -> None:
    store = RunStore(workshop.make, max_entries=4)
    with store.waiting_for(lesson(), Settings()) as first:
        assert workshop.begun.wait(PATIENCE)
        with store.waiting_for(lesson(), Settings(block_size=9)):
            pass
        workshop.go_on.set()
        first.wait(PATIENCE)
    store.get(lesson(), Settings(block_size=7))
    assert workshop.asked == [("growth", 4), ("growth", 7)]


def test_a_failed_run_is_told_to_every_waiter_and_tried_again_by_the_next() -> None:
    attempts: list[int] = []

    def make(lesson: Lesson, settings: Settings, on_progress: OnProgress) -> str:
        attempts.append(len(attempts))
        if len(attempts) == 1:
            raise RuntimeError("out of chalk")
        return "made"

    store = RunStore(make, max_entries=4)
    with pytest.raises(RuntimeError, match="out of chalk"):
        store.get(lesson(), Settings())
    assert store.get(lesson(), Settings()) == "made"


def test_the_least_recently_used_run_is_given_up_first(workshop: Workshop) -> None:
    store = RunStore(workshop.make, max_entries=2)
    workshop.go_on.set()
    for block_size in (1, 2, 1, 3, 1, 2):
        store.get(lesson(), Settings(block_size=block_size))
    assert len(store) == 2
    assert [block_size for _, block_size in workshop.asked] == [1, 2, 3, 2]


def test_two_lessons_with_the_same_settings_are_two_runs(workshop: Workshop) -> None:
    store = RunStore(workshop.make, max_entries=4)
    workshop.go_on.set()
    assert store.get(lesson("growth"), Settings()) != store.get(lesson("freeing"), Settings())


def test_a_store_without_room_for_one_run_is_refused(workshop: Workshop) -> None:
    with pytest.raises(ValueError, match="max_entries must be a whole number of at least 1"):
        RunStore(workshop.make, max_entries=0)


def test_a_run_can_be_looked_for_and_left_there_without_making_it(workshop: Workshop) -> None:
    store = RunStore(workshop.make, max_entries=2)
    assert store.find(lesson(), Settings()) is None
    store.keep(lesson(), Settings(), "made on the way")
    store.keep(lesson(), Settings(block_size=1), "another")
    assert store.find(lesson(), Settings()) == "made on the way"
    store.keep(lesson(), Settings(block_size=2), "a third")  # the one not asked for is given up
    assert store.get(lesson(), Settings()) == "made on the way"
    assert store.find(lesson(), Settings(block_size=1)) is None
    assert workshop.asked == []
