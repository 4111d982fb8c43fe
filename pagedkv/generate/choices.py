"""What a visitor chooses: a prompt, how many answers, how long, and how their tokens are drawn."""

from dataclasses import dataclass, fields

from pagedkv.checks import is_whole_number, named, shortened
from pagedkv.engine import TOKEN_BUDGET
from pagedkv.language_model import LanguageModel
from pagedkv.model.prompts import PASSAGE_SHARED
from pagedkv.settings import RANGES as LESSON_RANGES

COURSE, LARGE = "course", "large"  # the course's own model; a real LLM, where there is one
MODELS = (COURSE, LARGE)
RANGES: dict[str, range] = {
    "num_answers": range(1, 9),
    "length": range(1, 129),
    "top_k": range(1, 1001),
    "seed": LESSON_RANGES["seed"],
    "block_size": LESSON_RANGES["block_size"],
}
HIGHEST_TEMPERATURE = 2.0
LONGEST_PROMPT = TOKEN_BUDGET  # tokens: the prompt is processed in one execution
LONGEST_REASON = 240  # characters of what a tokenizer says is wrong
LONGEST_TEXT = 8 * LONGEST_PROMPT  # characters; a token of a real LLM has some four of English


class ChoiceError(ValueError):
    """A choice cannot be honoured; the message names it and says what would do."""


@dataclass(frozen=True, slots=True)
class Choices:
    """One choice; the same one always gives the same answers.

    ``length`` is how many new tokens each answer gets, unless the model ends it before;
    ``block_size`` is in slots; ``model`` is one of ``MODELS``. A temperature of 0 takes the
    likeliest token, so that all answers are equal. Raises ``ChoiceError`` for what ``RANGES`` lacks
    and for a temperature that is no number from 0 to ``HIGHEST_TEMPERATURE``.
    """

    prompt: str = PASSAGE_SHARED.splitlines(keepends=True)[0]
    num_answers: int = 4
    length: int = 60
    temperature: float = 0.8
    top_k: int = 20
    seed: int = 0
    block_size: int = 4
    model: str = COURSE

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name in RANGES:
                _require_in_range(field.name, getattr(self, field.name))
        if not isinstance(self.prompt, str) or not self.prompt:
            raise ChoiceError(
                f"prompt is {named(self.prompt)}; it must be a text that is not empty"
            )
        if self.model not in MODELS:
            raise ChoiceError(f"model is {named(self.model)}; it must be {' or '.join(MODELS)}")
        if not _is_temperature(self.temperature):
            raise ChoiceError(
                f"temperature is {named(self.temperature)}; it must be a number from 0 to "
                f"{HIGHEST_TEMPERATURE:g}"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """What the answers are called, in order: R1, R2 and so on."""
        return tuple(f"R{number}" for number in range(1, self.num_answers + 1))


def encode_prompt(choices: Choices, model: LanguageModel) -> tuple[int, ...]:
    """Return the token ids of the prompt.

    Raises ``ChoiceError`` where this model cannot honour the choices: characters that it does not
    know, a prompt without a token or with more than one execution takes, more positions than its
    context, a top-k beyond its vocabulary.
    """
    try:
        token_ids = model.tokenizer.encode(choices.prompt)
    except ValueError as error:
        raise ChoiceError(f"prompt: {shortened(str(error), LONGEST_REASON)}") from error
    if not token_ids:
        raise ChoiceError(
            f"prompt is {named(choices.prompt)}, of which this model's tokenizer makes no token; "
            "it must make at least one"
        )
    if len(token_ids) > LONGEST_PROMPT:
        raise ChoiceError(
            f"prompt has {len(token_ids)} tokens; one execution processes {LONGEST_PROMPT} at most"
        )
    context, vocab_size = model.config.context, model.config.vocab_size
    if len(token_ids) + choices.length > context:
        raise ChoiceError(
            f"length is {choices.length}; behind a prompt of {len(token_ids)} tokens it must be "
            f"at most {context - len(token_ids)}, for the model's context has {context}"
        )
    if choices.top_k > vocab_size:
        raise ChoiceError(f"top_k is {choices.top_k}; this model has {vocab_size} tokens")
    return tuple(token_ids)


def _require_in_range(name: str, value: object) -> None:
    allowed = RANGES[name]
    if not is_whole_number(value) or value not in allowed:
        raise ChoiceError(
            f"{name} is {named(value)}; it must be a whole number from {allowed[0]} to "
            f"{allowed[-1]}"
        )


def _is_temperature(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= HIGHEST_TEMPERATURE  # as NaN is not
