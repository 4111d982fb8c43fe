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
from pagedkv.refusals import OutOfBlocks
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
        self.num_prompt_characters = 0  # of all who were asked for, whatever came of them
        self.prompts: dict[str, str] = {}  # of those who have no blocks yet
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
    def num_actions(self) -> int:
        """How many actions have been done."""
        return len(self.recorder.frames) - 1

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
        self.num_prompt_characters += len(prompt)
        stage = self.recorder
        if self.is_full:
            stage.show(words.TOO_MANY)
            return
        stage.check_admission(name, len(prompt))
        self.prompts[name] = prompt
        if self.waiting and self._fits_an_empty_pool(prompt):
            stage.put_among_waiting(name)
            stage.show(words.about(words.WAITS_BEHIND, name))
            return
        try:
            self.admit(name)
        except OutOfBlocks as refusal:
            if refusal.reason == "wait":
                stage.put_among_waiting(name)
            else:
                del self.prompts[name]
            stage.show(words.about(words.NOT_ADMITTED[refusal.reason], name))
        else:
            stage.execute(name)
            stage.engine.select(name)
            stage.show(words.about(words.ADMITTED, name))

    def _decode(self, name: str, token: str | None) -> None:
        stage = self.recorder
        if not self._can_act_on(name):
            return
        asked = stage.ask_append(name)
        has_position = asked.position < stage.engine.model.config.context
        if token is not None and asked.fits and has_position:  # else nothing may change
            stage.engine.choose(name, *tokenizer.encode(token))
        try:
            stage.engine.append(name)
        except ContextFullError:
            stage.show(words.about(words.CONTEXT_FULL, name))
        except OutOfBlocks as refusal:
            stage.show(words.about(words.not_decoded(asked, refusal.reason), name))
        else:
            stage.execute(name)
            stage.engine.select(name)
            stage.show(words.about(words.decoded(asked), name))

    def _fork(self, parent: str) -> None:
        child = self._next_name()
        stage = self.recorder
        if self.is_full:
            stage.show(words.TOO_MANY)
        elif self._can_act_on(parent):
            rank = self._first_rank_of_its_own(parent)
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

    def queue(self) -> dict[str, int]:
        """How many inputs each of those who wait will have, the next one first."""
        return {name: len(self.prompts[name]) for name in self.waiting}

    def admit(self, name: str) -> None:
        """Give a request blocks for its prompt. Raises ``OutOfBlocks``; nothing changes then."""
        self.recorder.engine.admit(name, self.prompts[name])
        del self.prompts[name]
        if name in self.recorder.waiting:
            self.recorder.waiting.remove(name)

    def _fits_an_empty_pool(self, prompt: str) -> bool:
        cache = self.recorder.engine.cache
        return cache.blocks_needed_to_admit(len(prompt)) <= cache.num_blocks

    def _first_rank_of_its_own(self, parent: str) -> int:
        """The rank of the likeliest token after ``parent`` that nobody with its text has chosen."""
        engine = self.recorder.engine
        taken = {
            engine.pending_token(name)
            for name in self.running
            if engine.text(name) == engine.text(parent)
        }
        # The likeliest first, as ``select`` counts. [vocab_size]
        order = engine.logits(parent).sort(descending=True, stable=True).indices.tolist()
        tokens = engine.model.tokenizer.pieces(order)
        return next(rank for rank, token in enumerate(tokens) if token not in taken)

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
