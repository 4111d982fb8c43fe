"""Several answers to one prompt, decoded in one batch on the real cache, one execution at a time.

The prompt is processed once, for the first answer; the others fork from it and share its blocks
until one must write. Whoever drives this may stop after any execution: all that was made so far is
there, texts, usage and frames alike.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from time import perf_counter

import torch

from pagedkv.block_manager import AppendPlan
from pagedkv.generate.choices import Choices, encode_prompt
from pagedkv.generate.pool import PoolSettings, most_blocks
from pagedkv.generate.sampling import draws, pick
from pagedkv.generate.story import STORY, of_answers, of_prompt
from pagedkv.generate.usage import Copy, Moment, Usage, unshared_blocks
from pagedkv.language_model import LanguageModel
from pagedkv.layer_work import LayerWork, layers_to_watch
from pagedkv.layout import blocks_needed
from pagedkv.lessons.base import Words
from pagedkv.recorder import Recorder
from pagedkv.trace.frame import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What one answer has so far, and the logits that each token was chosen from.

    ``token_ids`` are n new ones, the prompt's not among them; ``logits`` [n, vocab_size] float32
    are on the CPU.
    """

    name: str
    text: str
    token_ids: tuple[int, ...]
    logits: torch.Tensor


@dataclass(frozen=True, slots=True)
class Pace:
    """How many new tokens there are of all answers together, and how long they took, in seconds."""

    num_tokens: int
    seconds: float

    @property
    def tokens_per_second(self) -> float:
        """New tokens by the time that they took, their recording included; 0 before the first."""
        return self.num_tokens / self.seconds if self.seconds > 0 else 0.0


class Generation:
    """One run of some choices. ``moments`` has an entry for each execution so far.

    An answer whose last token is one of the model's ``end_ids`` has ended: it gets no further ones,
    and holds its blocks until all have ended, so that what is shared can be compared throughout.
    Raises ``ChoiceError`` for choices that the model cannot honour. ``clock`` is asked before and
    after an execution, in seconds.

    ``turn`` is for callers in several threads: who goes on with a generation, or checks it, holds
    that lock meanwhile.
    """

    def __init__(
        self, choices: Choices, model: LanguageModel, clock: Callable[[], float] = perf_counter
    ) -> None:
        self.choices = choices
        self.model = model
        self.prompt_ids = encode_prompt(choices, model)
        self.moments: list[Moment] = []
        self.turn = Lock()
        self._clock = clock
        self._seconds = 0.0
        watched = layers_to_watch(model.config.num_layers)
        self._stage = Recorder(STORY, self._settings(), model, watched_layers=watched)
        self._token_ids: dict[str, list[int]] = {name: [] for name in choices.names}
        self._logits: dict[str, list[torch.Tensor]] = {name: [] for name in choices.names}
        self._draws = {
            name: draws(choices.seed, answer, choices.length)
            for answer, name in enumerate(choices.names)
        }

    @property
    def is_done(self) -> bool:
        """Whether every answer has its full length, or has ended before."""
        return len(self.moments) == self.choices.length or not self._going_on()

    @property
    def pace(self) -> Pace:
        """How fast it goes."""
        return Pace(sum(map(len, self._token_ids.values())), self._seconds)

    @property
    def layer_work(self) -> LayerWork:
        """Which layers are watched, and which backend does which."""
        return self._stage.engine.layer_work

    @property
    def usage(self) -> Usage:
        """The blocks held so far; meaningless before the first execution."""
        choices = self.choices
        return Usage(
            block_size=choices.block_size,
            num_answers=choices.num_answers,
            reserved_positions=choices.num_answers * (len(self.prompt_ids) + choices.length),
            moments=tuple(self.moments),
        )

    def texts(self) -> tuple[str, ...]:
        """What each answer reads so far, without the prompt, but with the token that ended it."""
        return tuple(self.model.tokenizer.decode(ids) for ids in self._token_ids.values())

    def answers(self) -> tuple[Answer, ...]:
        """The answers so far, with the logits that they were chosen from."""
        nothing = torch.empty(0, self.model.config.vocab_size)
        return tuple(
            Answer(name, text, tuple(ids), torch.stack(logits) if logits else nothing)
            for (name, ids), text, logits in zip(
                self._token_ids.items(), self.texts(), self._logits.values(), strict=True
            )
        )

    def trace(self) -> Trace:
        """The run so far, a frame an execution."""
        return self._stage.trace()

    def steps(self) -> Iterator[Moment]:
        """Go on to the end, an execution at a time."""
        while not self.is_done:
            yield self.advance()

    def advance(self) -> Moment:
        """Run one execution and choose one more token for every answer.

        Raises ValueError if there is nothing left to do, or if the logits are no numbers.
        """
        if self.is_done:
            raise ValueError(f"every answer has its {self.choices.length} tokens, or has ended")
        before, names = self._clock(), self._going_on()
        if self.moments:
            num_inputs, plans = len(names), self._process_answers(names)
        else:
            num_inputs, plans = self._process_prompt(), {}
        self._choose(names)
        moment = self._moment(num_inputs, plans)
        self._stage.show(self._words(moment, plans, names))
        self.moments.append(moment)
        self._seconds += self._clock() - before
        return moment

    # Inside

    def _settings(self) -> PoolSettings:
        """A pool that is full at the end, if everything goes as it should."""
        choices, num_prompt = self.choices, len(self.prompt_ids)
        block_size = choices.block_size
        num_blocks = most_blocks(num_prompt, choices.num_answers, choices.length, block_size)
        return PoolSettings(block_size, num_blocks * block_size, num_prompt, choices.seed)

    def _process_prompt(self) -> int:
        """Run the prompt for the first answer, and let the others share its blocks."""
        first, *others = self.choices.names
        self._stage.admit(first, self.choices.prompt)
        self._stage.execute(first)
        for name in others:
            self._stage.engine.fork(first, name)
        return len(self.prompt_ids)

    def _process_answers(self, names: Sequence[str]) -> dict[str, AppendPlan]:
        """Run the token chosen last for each of these answers, all in one batch."""
        plans = {name: self._stage.engine.append(name) for name in names}
        self._stage.execute(*names)
        return plans

    def _going_on(self) -> tuple[str, ...]:
        """The answers that have not ended."""
        return tuple(
            name
            for name, ids in self._token_ids.items()
            if not ids or ids[-1] not in self.model.config.end_ids
        )

    def _choose(self, names: Sequence[str]) -> None:
        engine, choices = self._stage.engine, self.choices
        for name in names:
            ids = self._token_ids[name]
            logits = engine.logits(name)  # [vocab_size]
            draw = self._draws[name][len(ids)]
            token_id = pick(logits, choices.temperature, choices.top_k, draw)
            engine.choose(name, token_id)
            self._logits[name].append(logits)
            ids.append(token_id)

    def _words(
        self, moment: Moment, plans: Mapping[str, AppendPlan], names: Sequence[str]
    ) -> Words:
        """What to say of an execution in which ``names`` got one more token."""
        ended = [name for name in names if name not in self._going_on()]
        if moment.number == 1:
            return of_prompt(moment.number, self.choices.num_answers, ended)
        return of_answers(moment.number, plans, self.choices.num_answers, ended)

    def _moment(self, num_inputs: int, plans: Mapping[str, AppendPlan]) -> Moment:
        """Count in the real cache what is held now."""
        cache, choices = self._stage.engine.cache, self.choices
        in_one_piece = len(self.prompt_ids) + choices.length
        lengths = [cache.num_tokens(name) for name in choices.names]
        return Moment(
            number=len(self.moments) + 1,
            num_inputs=num_inputs,
            shared=sum(cache.ref_count(block_id) > 0 for block_id in range(cache.num_blocks)),
            unshared=unshared_blocks(lengths, choices.block_size),
            reserved=choices.num_answers * blocks_needed(in_one_piece, choices.block_size),
            copies=tuple(
                Copy(name, source, destination)
                for name, plan in plans.items()
                for source, destination in plan.copies
            ),
        )
