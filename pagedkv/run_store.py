"""Runs by what was asked for: each made once, however many learners ask at the same moment.

One worker thread makes them, one after another: a run is nearly all Python, so two side by side
would share one core's worth of it and both be late. In turn, each shows steady progress, first come
first served. A run for which nobody waits any more is stopped.

What ``make`` returns is kept as it is; the store never looks into it.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

from pagedkv.checks import require_whole_number
from pagedkv.lessons.base import Told
from pagedkv.recorder import OnProgress

Subject = TypeVar("Subject", bound=Told)
Choice = TypeVar("Choice", bound=Hashable)
Made = TypeVar("Made")
Key = tuple[str, Hashable]


class Abandoned(Exception):
    """Nobody waits for this run any more, so it stops at the next frame."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How many frames a run has so far, and the title of the last."""

    frames: int = 0
    title: str = ""


class Run(Generic[Made]):
    """A run on its way. Any number of learners wait for it and see its progress."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.num_waiting = 0
        self.future: Future[Made] = Future()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait up to ``seconds``, or for as long as it takes; say whether the run has ended."""
        return bool(wait([self.future], seconds).done)

    def result(self) -> Made:
        """What was made. Raises what the run raised, and blocks while it goes on."""
        return self.future.result()

    def report(self, frames: int, title: str) -> None:
        """Take note of one more frame, or raise ``Abandoned`` where nobody waits any more."""
        if self.num_waiting == 0:
            raise Abandoned
        self.progress = Progress(frames, title)


class RunStore(Generic[Subject, Choice, Made]):
    """At most ``max_entries`` runs, the least recently used given up first.

    A run is known by its subject's slug (a lesson's, say) and by what was chosen for it (settings).
    ``make(subject, choice, on_progress)`` is called in the worker thread alone. Runs that failed
    are not kept: whoever asks next starts anew.
    """

    def __init__(
        self, make: Callable[[Subject, Choice, OnProgress], Made], max_entries: int
    ) -> None:
        require_whole_number("max_entries", max_entries, least=1)
        self._make = make
        self._max_entries = max_entries
        self._kept: OrderedDict[Key, Made] = OrderedDict()
        self._on_the_way: dict[Key, Run[Made]] = {}
        self._lock = Lock()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="run")

    def __len__(self) -> int:
        """How many finished runs are kept."""
        return len(self._kept)

    def get(self, subject: Subject, choice: Choice) -> Made:
        """The finished run, waited for if need be."""
        with self.waiting_for(subject, choice) as run:
            return run.result()

    def find(self, subject: Subject, choice: Choice) -> Made | None:
        """The finished run if it is kept; nothing is made."""
        with self._lock:
            return self._used(_key(subject, choice))

    def keep(self, subject: Subject, choice: Choice, made: Made) -> None:
        """Keep a run that was made on the way to another one."""
        with self._lock:
            self._keep(_key(subject, choice), made)

    @contextmanager
    def waiting_for(self, subject: Subject, choice: Choice) -> Iterator[Run[Made]]:
        """Join the run that is on its way, or start one; the last to leave early stops it."""
        key = _key(subject, choice)
        run = self._join(key, subject, choice)
        try:
            yield run
        finally:
            self._leave(key, run)

    def _join(self, key: Key, subject: Subject, choice: Choice) -> Run[Made]:
        with self._lock:
            run = self._on_the_way.get(key) or self._kept_as_run(key)
            if run is not None:
                run.num_waiting += 1
                return run
            run = self._on_the_way[key] = Run()
            run.num_waiting = 1  # before the worker looks whether anybody waits
            self._worker.submit(self._work, key, run, subject, choice)
            return run

    def _kept_as_run(self, key: Key) -> Run[Made] | None:
        made = self._used(key)
        if made is None:
            return None
        run: Run[Made] = Run()
        run.future.set_result(made)
        return run

    def _used(self, key: Key) -> Made | None:
        """A run that is kept, for longer now that it was asked for."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key]

    def _leave(self, key: Key, run: Run[Made]) -> None:
        with self._lock:
            run.num_waiting -= 1
            if run.num_waiting == 0:
                self._forget(key, run)

    def _forget(self, key: Key, run: Run[Made]) -> None:
        """Let nobody join this run any more; an abandoned one must not be taken for a live one."""
        if self._on_the_way.get(key) is run:
            del self._on_the_way[key]

    def _work(self, key: Key, run: Run[Made], subject: Subject, choice: Choice) -> None:
        try:
            run.report(0, "")
            made = self._make(subject, choice, run.report)
        except BaseException as error:
            with self._lock:
                self._forget(key, run)
            run.future.set_exception(error)
        else:
            with self._lock:
                self._keep(key, made)
                self._forget(key, run)
            run.future.set_result(made)

    def _keep(self, key: Key, made: Made) -> None:
        self._kept[key] = made
        self._kept.move_to_end(key)
        while len(self._kept) > self._max_entries:
            self._kept.popitem(last=False)


def _key(subject: Told, choice: Hashable) -> Key:
    return subject.slug, choice
