"""A session at work: actions done on a real engine, one frame each.

An action is done as an engine would do it: first the check, then, if there is room, blocks, KV and
the next output. Where the engine refuses, the refusal is the frame. Nothing here raises for what a
valid ``Script`` may ask.
"""

from copy import deepcopy

from pagedkv.engine import ContextFullError
from pagedkv.language_model import LanguageModel
from pagedkv.model import tokenizer
from pagedkv.recorder import Recorder
from pagedkv.sandbox import words
from pagedkv.sandbox.actions import (
    Action,
    DecodeToken,
    EngineStep,
    Finish,
    Fork,
    NewRequest,
    name_of,
)
from pagedkv.sandbox.engine_step import engine_step
from pagedkv.sandbox.free_orders import free_order_of
from pagedkv.sandbox.script import MAX_ALIVE, Pool
from pagedkv.trace.frame import Trace


class Session:
    """One pool and its requests; ``do`` an action, and there is one frame more.

    ``recorder`` is the stage: its engine, its queue of waiting requests, its frames.
    """

    def __init__(self, pool: Pool, model: LanguageModel) -> None:
        self.pool = pool
        self.recorder = Recorder(words.BOOK, pool.settings(), model)
        self.recorder.open_pool(free_order_of(pool.free_order, pool.settings().num_blocks))
        self.num_requests = 0  # ever asked for, whatever came of it
        self.prompts: dict[str, str] = {}  # of those in the queue
        self.recorder.show(words.BEGIN if pool.settings().num_blocks else words.NO_BLOCK)

    def copy(self) -> "Session":
        """The same session, to go on another way; what never changes is shared, for good."""
        engine = self.recorder.engine
        records = [record for own in engine.attention.values() for record in own]
        kept = [engine.model, words.BOOK, *self.recorder.frames, *records]
        return deepcopy(self, {id(thing): thing for thing in kept})

    def trace(self) -> Trace:
        """A frame for the beginning and one for each action."""
        return self.recorder.trace()

    @property
    def running(self) -> tuple[str, ...]:
        """Names of the requests that have blocks, in order of arrival."""
        return self.recorder.engine.requests

    @property
    def waiting(self) -> tuple[str, ...]:
        """Names of the requests in the queue, the next one first."""
        return tuple(self.recorder.waiting)

    @property
    def is_full(self) -> bool:
        """Whether as many requests are alive as the sandbox allows."""
        return len(self.running) + len(self.waiting) >= MAX_ALIVE

    def do(self, action: Action) -> None:
        """Do an action and show what came of it."""
        match action:
            case NewRequest(prompt=prompt):
                self._new(prompt)
            case DecodeToken(request=request, token=token):
                self._decode(name_of(request), token)
            case Fork(request=request):
                self._fork(name_of(request))
            case Finish(request=request):
                self._finish(name_of(request))
            case EngineStep():
                engine_step(self)

    # The actions. Each ends with exactly one frame.

    def _new(self, prompt: str) -> None:
        name = self._next_name()
        stage = self.recorder
        if self.is_full:
            stage.show(words.TOO_MANY)
            return
        fits = stage.check_admission(name, len(prompt))
        cache = stage.engine.cache
        if cache.blocks_needed_to_admit(len(prompt)) > cache.num_blocks:
            stage.show(words.about(words.NEVER_FITS, name))
        elif self.waiting:
            self._queue(name, prompt)
            stage.show(words.about(words.WAITS_BEHIND, name))
        elif not fits:
            self._queue(name, prompt)
            stage.show(words.about(words.WAITS, name))
        else:
            self.admit(name, prompt)
            stage.execute(name)
            stage.engine.select(name)
            stage.show(words.about(words.ADMITTED, name))

    def _decode(self, name: str, token: str | None) -> None:
        stage = self.recorder
        if not self._can_act_on(name):
            return
        if token is not None:
            stage.engine.choose(name, *tokenizer.encode(token))
        asked = stage.ask_append(name)
        try:
            has_slot = stage.append(name)
        except ContextFullError:
            stage.show(words.about(words.CONTEXT_FULL, name))
            return
        if has_slot:
            stage.execute(name)
            stage.engine.select(name)
        stage.show(words.about(words.decoded(asked), name))

    def _fork(self, parent: str) -> None:
        child = self._next_name()
        stage = self.recorder
        if self.is_full:
            stage.show(words.TOO_MANY)
        elif self._can_act_on(parent):
            rank = sum(
                stage.engine.text(other) == stage.engine.text(parent) for other in self.running
            )
            stage.engine.fork(parent, child)
            stage.engine.select(child, rank)
            stage.show(words.about(words.FORKED, child, parent))

    def _finish(self, name: str) -> None:
        stage = self.recorder
        if name in self.waiting:
            stage.waiting.remove(name)
            del self.prompts[name]
            stage.show(words.about(words.WITHDRAWN, name))
        elif self._can_act_on(name):
            stage.engine.finish(name)
            stage.show(words.about(words.FINISHED, name))

    # Inside

    def admit(self, name: str, prompt: str) -> None:
        """Give a request its blocks; it was asked before whether they are there."""
        self.recorder.admit(name, prompt)
        self.prompts.pop(name, None)

    def _queue(self, name: str, prompt: str) -> None:
        self.recorder.put_among_waiting(name)
        self.prompts[name] = prompt

    def _next_name(self) -> str:
        self.num_requests += 1
        return name_of(self.num_requests)

    def _can_act_on(self, name: str) -> bool:
        """Whether a request is running; if not, a frame says so."""
        if name in self.running:
            return True
        reason = words.STILL_WAITING if name in self.waiting else words.GONE
        self.recorder.show(words.about(reason, name))
        return False
