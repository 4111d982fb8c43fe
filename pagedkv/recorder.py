"""From a lesson's script to a trace: act on the real engine, then show a frame.

A script calls acts (``admit``, ``append``, ``execute``; ``engine.select``, ``fork``, ``finish``)
and, where a learner should stop and look, ``show``. A frame holds what happened since the frame
before, the state now, and the evidence. The recorder only listens and copies: it decides nothing
that the engine decides, and the engine does not know it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import kernels
from pagedkv.contiguous_baseline import ContiguousBaseline
from pagedkv.engine import Engine
from pagedkv.events import Event, Listener, ignore
from pagedkv.evidence import attention_views, look_up
from pagedkv.language_model import LanguageModel
from pagedkv.layout import split_position
from pagedkv.memory_check import admission_check, append_check
from pagedkv.model import load_model
from pagedkv.narration import narrate
from pagedkv.refusals import OutOfBlocks
from pagedkv.settings import Settings
from pagedkv.slot_history import SlotHistory
from pagedkv.snapshot import take_snapshot
from pagedkv.trace.frame import (
    AttentionView,
    Check,
    Comparison,
    ExecutionView,
    Frame,
    InputCount,
    LookupView,
    Runtime,
    Trace,
    WhatIf,
    WorkedScore,
)
from pagedkv.trace.state import State
from pagedkv.vectors import VectorStore

if TYPE_CHECKING:  # lessons import the recorder; it only names their types
    from pagedkv.lessons.base import Lesson, Told, Words

OnProgress = Callable[[int, str], None]


def _keep_quiet(frames: int, title: str) -> None:
    """Nobody wants to know how far a run is."""


def record(
    lesson: "Lesson",
    settings: Settings,
    *,
    model: LanguageModel | None = None,
    on_progress: OnProgress = _keep_quiet,
) -> Trace:
    """Run a lesson's script with these settings and return its trace.

    ``on_progress(frames so far, title of the last)`` is called after every frame; an exception from
    it stops the run and passes through. Without ``model`` the committed weights are loaded.
    """
    model = model or load_model(kernels.runtime()["device"])
    recorder = Recorder(lesson, settings, model, on_progress)
    lesson.script(recorder)
    return recorder.trace()


@dataclass(slots=True)
class _SinceFrame:
    """What has gathered since the last frame was shown."""

    events: list[Event] = field(default_factory=list)
    written: set[int] = field(default_factory=set)  # flat slots
    attention: list[AttentionView] = field(default_factory=list)
    check: Check | None = None
    execution: ExecutionView | None = None


class Recorder:
    """What a lesson's script holds in its hands.

    ``engine`` is the pool on the board; ``open_pool`` puts a new one there. ``baseline`` reserves
    beside it. ``waiting`` are the requests that were refused so far, in order. Of a large model
    only the ``watched_layers`` are recorded (None: all).
    """

    def __init__(
        self,
        lesson: "Told",
        settings: Settings,
        model: LanguageModel,
        on_progress: OnProgress = _keep_quiet,
        watched_layers: Iterable[int] | None = None,
    ) -> None:
        self.settings = settings
        self._watched_layers = None if watched_layers is None else tuple(watched_layers)
        self._on_progress = on_progress
        self._lesson = lesson  # or whatever is told
        self._model = model
        self._frames: list[Frame] = []
        self._infeasible: str | None = None
        self._since = _SinceFrame()
        self.open_pool()
        self._vectors = VectorStore(self.engine.layer_work.watched)

    # The stage: which pool, and which baseline beside it.

    def open_pool(self, free_order: Iterable[int] | None = None) -> None:
        """Put a new, empty pool on the board; its free list gives ``free_order`` first to last."""
        self.engine = self.new_engine(free_order, on_event=self._note)
        self.waiting: list[str] = []
        self._history = SlotHistory(self.settings.block_size)
        self.baseline = ContiguousBaseline(self.settings.capacity, on_event=self._note)
        self._since = _SinceFrame()

    def new_engine(
        self,
        free_order: Iterable[int] | None = None,
        on_event: Listener = ignore,
    ) -> Engine:
        """A fresh engine of the lesson's geometry that is not on the board."""
        return Engine(
            self._model,
            block_size=self.settings.block_size,
            num_blocks=self.settings.num_blocks,
            free_order=None if free_order is None else tuple(free_order),
            watched_layers=self._watched_layers,
            on_event=on_event,
        )

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Everything shown so far."""
        return tuple(self._frames)

    def state(self) -> State:
        """The board as it is now, for a script that has to look at it."""
        return take_snapshot(self.engine, self._history, self.waiting)

    # Acts: each is the engine's own, and what it announces goes into the next frame.

    def check_admission(self, name: str, num_tokens: int) -> bool:
        """Ask whether a new request would fit, and put question and answer into the next frame."""
        self._since.check = admission_check(self.engine, name, num_tokens)
        return self._since.check.fits

    def check_append(self, name: str) -> bool:
        """Ask whether a request's next input finds a slot, and show question and answer."""
        return self.ask_append(name).fits

    def ask_append(self, name: str) -> Check:
        """The same, with all that was asked."""
        self._since.check = append_check(self.engine, name)
        return self._since.check

    def needs_block(self, name: str) -> bool:
        """Whether a request's next input takes a free block, if only for a copy; shows nothing."""
        return self.engine.cache.blocks_needed_to_append(name) > 0

    def admit(self, name: str, prompt: str) -> bool:
        """Admit a request, or put it among the waiting; say which."""
        try:
            self.engine.admit(name, prompt)
        except OutOfBlocks:
            self.put_among_waiting(name)
            return False
        if name in self.waiting:
            self.waiting.remove(name)
        return True

    def put_among_waiting(self, name: str) -> None:
        """A request was refused, wherever: it waits until it is admitted."""
        if name not in self.waiting:
            self.waiting.append(name)

    def append(self, name: str) -> bool:
        """Make a request's pending token its next input; say whether there was a slot for it."""
        try:
            self.engine.append(name)
        except OutOfBlocks:
            return False
        return True

    def execute(self, *names: str) -> None:
        """Run the model once over everything these requests have allocated but not stored."""
        inputs = tuple(self._input_count(name) for name in names)
        total = sum(count.num_tokens for count in inputs)
        if not self._frames or self._since.execution is not None:
            # Marks stand for the execution that the frame shows, not for what led to it.
            self._since.written.clear()
        self._since.execution = ExecutionView(inputs, total, self.engine.token_budget)
        self.engine.execute(*names)
        self._since.attention += attention_views(self.engine, names)

    def decode(self, name: str) -> bool:
        """Append the pending token, execute it, select the next; say whether there was a slot."""
        if not self.append(name):
            return False
        self.execute(name)
        self.engine.select(name)
        return True

    # Frames

    def show(
        self,
        words: "str | Words",
        *,
        look_up_requests: bool = False,
        keep_attention: bool = False,
        worked_score: WorkedScore | None = None,
        comparison: Comparison | None = None,
        what_if: WhatIf | None = None,
    ) -> None:
        """End a frame here, with these words or those that the lesson has for a key.

        ``keep_attention`` shows the last execution's attention again; a frame right after an
        execution has it anyway. The text of ``what_if`` is a template like a caption's. Raises what
        ``narrate`` raises where the words cite what the frame does not have.
        """
        if isinstance(words, str):
            words = self._lesson.frames[words]
        draft = Frame(
            index=len(self._frames),
            title="",
            caption="",
            facts=(),
            events=tuple(self._since.events),
            state=take_snapshot(self.engine, self._history, self.waiting, self._since.written),
            contiguous=self.baseline.view(),
            lookup=self._lookups() if look_up_requests else None,
            what_if=what_if,
            attention=self._attention(keep_attention),
            check=self._since.check,
            execution=self._since.execution,
            worked_score=worked_score,
            comparison=comparison,
            vector_ids=self._vectors.take(self.engine.cache, self._history),
        )
        self._frames.append(self._tell(draft, words))
        self._since = _SinceFrame()
        self._on_progress(len(self._frames), words.title)

    def cannot_show(self, key: str, remedy: str) -> None:
        """Declare that these settings cannot show the lesson's point.

        The lesson's words for ``key`` say why; what they cite is in the last frame shown.
        ``remedy`` says what would do.
        """
        template = self._lesson.frames[key].caption
        reason = narrate(template, self._frames[-1], self.settings).text
        self._infeasible = f"{reason} {remedy}"

    def trace(self) -> Trace:
        """Everything shown so far."""
        runtime = kernels.runtime()
        return Trace(
            lesson=self._lesson.slug,
            figure=self._lesson.figure,
            settings=self.settings,
            runtime=Runtime(
                runtime["device"], runtime["backend"], runtime["gpu"], self._model.name
            ),
            infeasible=self._infeasible,
            frames=tuple(self._frames),
            layers=self._vectors.layers,
            vectors=self._vectors.stacked(self.engine.cache.config),
        )

    # Inside

    def _note(self, event: Event) -> None:
        self._since.events.append(event)
        self._since.written |= self._history.note(event, self.engine.tokens)

    def _input_count(self, name: str) -> InputCount:
        cache = self.engine.cache
        first = cache.num_stored(name)
        return InputCount(
            request=name,
            num_tokens=cache.num_tokens(name) - first,
            first_position=first,
            first_offset=split_position(first, self.settings.block_size).offset,
        )

    def _lookups(self) -> tuple[LookupView, ...]:
        return tuple(view for name in self.engine.requests for view in look_up(self.engine, name))

    def _attention(self, keep: bool) -> tuple[AttentionView, ...] | None:
        """All that attended since the last frame; else, with ``keep``, everyone's last again."""
        if self._since.attention:
            return tuple(self._since.attention)
        return attention_views(self.engine, self.engine.requests) if keep else None

    def _tell(self, draft: Frame, words: "Words") -> Frame:
        caption = narrate(words.caption, draft, self.settings)
        what_if = draft.what_if
        if what_if is not None:
            told = narrate(what_if.text, draft, self.settings)
            what_if = replace(what_if, text=told.text, facts=told.facts)
        return replace(
            draft,
            title=words.title,
            caption=caption.text,
            facts=caption.facts,
            what_if=what_if,
        )
