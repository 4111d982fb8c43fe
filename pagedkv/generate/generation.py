"""Several answers to one prompt, decoded in one batch on the real cache, one execution at a time.

The prompt is processed once, for the first answer; the others fork from it and share its blocks
until one must write. Whoever drives this may stop after any execution: all that was made so far is
there, texts, usage and frames alike.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import torch

from pagedkv.block_manager import AppendPlan
from pagedkv.generate.choices import Choices, encode_prompt
from pagedkv.generate.pool import PoolSettings, most_blocks
from pagedkv.generate.sampling import draws, pick
from pagedkv.generate.story import STORY, of_answers, of_prompt
from pagedkv.generate.usage import Copy, Moment, Usage, unshared_blocks
from pagedkv.language_model import LanguageModel
from pagedkv.layout import blocks_needed
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
    """How long the executions took, their recording included; ``seconds`` has one entry each."""

    num_answers: int
    seconds: tuple[float, ...]

    @property
    def tokens_per_second(self) -> float:
        """New tokens of all answers together by the time that they took; 0 before the first."""
        total = sum(self.seconds)
        return self.num_answers * len(self.seconds) / total if total > 0 else 0.0


class Generation:
    """One run of some choices. ``moments`` has an entry for each execution so far.

    Raises ``ChoiceError`` for choices that the model cannot honour. ``clock`` is asked before and
    after an execution, in seconds.
    """

    def __init__(
        self, choices: Choices, model: LanguageModel, clock: Callable[[], float] = perf_counter
    ) -> None:
        self.choices = choices
        self.model = model
        self.prompt_ids = encode_prompt(choices, model)
        self.moments: list[Moment] = []
        self._clock = clock
        self._seconds: list[float] = []
        self._stage = Recorder(STORY, self._settings(), model)
        self._token_ids: dict[str, list[int]] = {name: [] for name in choices.names}
        self._logits: dict[str, list[torch.Tensor]] = {name: [] for name in choices.names}
        self._draws = {
            name: draws(choices.seed, answer, choices.length)
            for answer, name in enumerate(choices.names)
        }

    @property
    def is_done(self) -> bool:
        """Whether every answer has its full length."""
        return len(self.moments) == self.choices.length

    @property
    def pace(self) -> Pace:
        """How fast it goes."""
        return Pace(self.choices.num_answers, tuple(self._seconds))

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
        """What each answer reads so far, without the prompt."""
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
            raise ValueError(f"every answer has its {self.choices.length} tokens")
        before, number = self._clock(), len(self.moments) + 1
        plans: dict[str, AppendPlan] = {}
        if number == 1:
            num_inputs = self._process_prompt()
            words = of_prompt(number, self.choices.num_answers)
        else:
            num_inputs, plans = self._process_answers()
            words = of_answers(number, plans)
        self._choose()
        moment = self._moment(number, num_inputs, plans)
        self._stage.show(words)
        self.moments.append(moment)
        self._seconds.append(self._clock() - before)
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

    def _process_answers(self) -> tuple[int, dict[str, AppendPlan]]:
        """Run the token chosen last for each answer, all in one batch."""
        names = self.choices.names
        plans = {name: self._stage.engine.append(name) for name in names}
        self._stage.execute(*names)
        return len(names), plans

    def _choose(self) -> None:
        engine, choices = self._stage.engine, self.choices
        for name, ids in self._token_ids.items():
            logits = engine.logits(name)  # [vocab_size]
            draw = self._draws[name][len(ids)]
            token_id = pick(logits, choices.temperature, choices.top_k, draw)
            engine.choose(name, token_id)
            self._logits[name].append(logits)
            ids.append(token_id)

    def _moment(self, number: int, num_inputs: int, plans: dict[str, AppendPlan]) -> Moment:
        """Count in the real cache what is held now."""
        cache, choices = self._stage.engine.cache, self.choices
        in_one_piece = len(self.prompt_ids) + choices.length
        lengths = [cache.num_tokens(name) for name in choices.names]
        return Moment(
            number=number,
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
