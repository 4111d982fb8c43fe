"""The simulation: requests come, wait, run, may be preempted, and go, an iteration at a time.

First come, first served. In every iteration those who run make room for one more token of each
answer; where blocks run out, the latest arrival gives up all it holds and waits at the head of the
queue, to compute prompt and answer so far again. Then, if nobody had to give up, the head of the
queue is admitted while there is room for it. Nobody overtakes, so nobody starves.

Nothing happens in most iterations but that everybody stores a token, so these are taken together.
"""

from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush

from pagedkv.workloads.binned_means import BinnedMeans
from pagedkv.workloads.clock import Clock
from pagedkv.workloads.outcome import Outcome, saved_of, shares_of
from pagedkv.workloads.running import Running
from pagedkv.workloads.setup import Setup
from pagedkv.workloads.sums import Sums
from pagedkv.workloads.usage import Usage
from pagedkv.workloads.workload import Request, Workload

OnProgress = Callable[[int, int], object]  # requests that are done, of how many

WARM_UP = 500  # iterations in which the pool fills; the paper's figures are compared without them
TURNS_BETWEEN_NEWS = 2000


class Simulation:
    """One workload under one ``Setup``. ``run`` it, and ask for its ``outcome`` at any time."""

    def __init__(self, workload: Workload, setup: Setup) -> None:
        self.setup = setup
        self.memory = setup.memory()
        self.now = 0  # the next iteration
        self.finished = 0
        self.turned_away = 0
        self.preemptions = 0
        self._num_requests = len(workload)
        self._clock = Clock(setup.iteration_ms)
        self._coming: Iterator[Request] = iter(workload)
        self._next: Request | None = None
        self._next_comes = 0  # the iteration in which it does
        self._await_next()
        # The head of the queue, with the slots to fill at once: who was preempted, and at most one
        # who has not run yet. Those behind stay in ``_coming``, where they cost nothing.
        self._waiting: deque[tuple[Request, int]] = deque()
        self._running: dict[int, Running] = {}  # by number, which is the order of arrival
        self._leaving: list[tuple[int, int, Running]] = []  # by iteration
        self._ever, self._steady = Sums(), Sums()
        self._queue_ended: int | None = None
        self._batches = BinnedMeans()

    # Questions

    @property
    def is_done(self) -> bool:
        """Whether every request has ended or was turned away."""
        return self.finished + self.turned_away == self._num_requests

    @property
    def running(self) -> tuple[Running, ...]:
        """Who runs, by arrival."""
        return tuple(self._running.values())

    @property
    def has_waiting(self) -> bool:
        """Whether somebody has arrived and waits."""
        return bool(self._waiting)

    def outcome(self) -> Outcome:
        """What has come of it so far."""
        is_steady = self._steady.iterations > 0
        sums = self._steady if is_steady else self._ever
        return Outcome(
            setup=self.setup,
            num_requests=self._num_requests,
            finished=self.finished,
            turned_away=self.turned_away,
            preemptions=self.preemptions,
            iterations=self.now,
            idle=self.now - self._ever.iterations,
            measured=sums.iterations,
            measured_from=WARM_UP if is_steady else 0,
            is_steady=is_steady,
            queue_ended=self._queue_ended,
            shares=shares_of(sums),
            mean_batch=sums.requests / sums.iterations if sums.iterations else 0.0,
            saved=saved_of(sums),
            batches=self._batches.points(),
        )

    # Commands

    def run(self, on_progress: OnProgress | None = None) -> None:
        """Go on to the end. An error that ``on_progress`` raises stops here; ``run`` goes on later.

        It is told how many requests are done, of how many: at first, at last, and at least once for
        every hundredth of them in between.
        """
        step = max(1, self._num_requests // 100)
        turns, told = 0, -step
        while True:
            done = self.finished + self.turned_away
            if on_progress is not None and (
                self.is_done or done >= told + step or turns % TURNS_BETWEEN_NEWS == 0
            ):
                told = done
                on_progress(done, self._num_requests)
            if self.is_done:
                return
            self.advance()
            turns += 1

    def advance(self) -> Usage | None:
        """Simulate the next iteration, and those after it in which nothing else happens.

        Returns how the slots are used in the first of them; None if nobody ran.
        """
        now = self.now
        self._let_go(now)
        has_preempted = self._grow(now)
        self._call_next(now)
        if not has_preempted:
            self._admit(now)
        if self._queue_ended is None and not self._waiting and self._next is None:
            self._queue_ended = now  # who is preempted later waits again
        if not self._running:
            if self._next is not None:
                self.now = self._next_comes
            return None
        iterations = 1 if has_preempted else self._until_something_happens(now)
        usage = self.memory.usage(now)
        self._measure(usage, now, iterations)
        self.now += iterations
        return usage

    # Inside

    def _await_next(self) -> None:
        """Look at the next request that has not come yet, if there is one."""
        self._next = next(self._coming, None)
        if self._next is not None:
            self._next_comes = self._clock.first_iteration_at(self._next.arrival)

    def _let_go(self, now: int) -> None:
        """End those whose outputs are all there."""
        while self._leaving and self._leaving[0][0] <= now:
            running = heappop(self._leaving)[2]
            if self._running.get(running.request.number) is running:  # else it was preempted
                del self._running[running.request.number]
                self.memory.release(running, now)
                self.finished += 1

    def _call_next(self, now: int) -> None:
        """If nobody stands at the head of the queue, call who has arrived and could ever run."""
        while not self._waiting and (request := self._next) is not None and self._next_comes <= now:
            self._await_next()
            if request.num_tokens <= self.setup.max_length and self.memory.could_hold(request):
                self._waiting.append((request, request.num_inputs))
            else:
                self.turned_away += 1

    def _grow(self, now: int) -> bool:
        """Make room for a token more of everybody; say if somebody had to give up for it."""
        has_preempted = False
        while not self.memory.grow(now):
            _, latest = self._running.popitem()
            self.memory.release(latest, now)
            self._waiting.appendleft((latest.request, latest.stored(now)))
            self.preemptions += 1
            has_preempted = True
        return has_preempted

    def _admit(self, now: int) -> None:
        """Admit from the head of the queue while there is room."""
        while self._waiting:
            request, stored = self._waiting[0]
            running = Running(request, now, stored)
            if not self.memory.admit(running):
                return
            self._waiting.popleft()
            self._running[request.number] = running
            heappush(self._leaving, (running.leaves, request.number, running))
            self._call_next(now)

    def _until_something_happens(self, now: int) -> int:
        """Iterations from ``now`` on in which nobody comes, goes, is admitted or takes a block."""
        events = [self._leaving[0][0] - now]
        growth = self.memory.iterations_until_growth(now)
        if growth is not None:
            events.append(growth)
        if self._next is not None and not self._waiting:
            events.append(self._next_comes - now)
        if now < WARM_UP:
            events.append(WARM_UP - now)
        return max(1, min(events))

    def _measure(self, usage: Usage, now: int, iterations: int) -> None:
        batch = len(self._running)
        self._ever.add(usage, batch, iterations)
        if now >= WARM_UP and self._queue_ended is None:
            self._steady.add(usage, batch, iterations)
        self._batches.add(batch, now, iterations)
