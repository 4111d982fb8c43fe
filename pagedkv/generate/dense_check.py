"""The proof of a generation: the same prompt and draws, through a forward pass without any cache.

Each answer is run through the model once more, from its first position to its last, with plain
causal attention over all of it. At every position the token is drawn again from the logits found
there. If all of them are the tokens that the cached run chose, then a run without a cache would
have written the same text: its first token would be the same, hence its second, and so on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

import kernels
from pagedkv.generate.choices import Choices
from pagedkv.generate.generation import Answer, Generation
from pagedkv.generate.sampling import draws, pick
from pagedkv.language_model import LanguageModel

# Both runs compute in float32 and sum in different orders, layer after layer. In the course's model
# that leaves differences of some 1e-5 in logits of up to about 10, in one of thirty layers 1e-4 in
# logits of up to about 30. A wrong key or value moves them by tenths.
LOGIT_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class Difference:
    """The first token of an answer (``index`` from 0) that the run without a cache has not."""

    name: str
    index: int
    cached: str
    dense: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of it: how many tokens were compared, the first difference of each answer, and the
    largest absolute difference of two logits (NaN if one is).
    """

    num_tokens: int
    differences: tuple[Difference, ...]
    largest_logit_difference: float

    @property
    def agrees(self) -> bool:
        """Whether all tokens are the same, and the logits but for rounding."""
        return not self.differences and self.largest_logit_difference <= LOGIT_TOLERANCE


class Check:
    """A proof on its way, an answer at a time: it can be left after any, and gone on with later.

    Raises ValueError if there is no answer, or one without a token.
    """

    def __init__(
        self,
        model: LanguageModel,
        choices: Choices,
        prompt_ids: Sequence[int],
        answers: Sequence[Answer],
    ) -> None:
        lengths = [len(answer.token_ids) for answer in answers]
        if not all(lengths) or not lengths:
            raise ValueError(f"answers have {lengths} tokens; each must have 1 or more")
        self._model, self._choices, self._prompt_ids = model, choices, tuple(prompt_ids)
        self._answers = tuple(answers)
        self._differences: list[Difference] = []
        self._largest = torch.zeros(())
        self.num_checked = 0

    @property
    def num_answers(self) -> int:
        """How many answers are to be checked."""
        return len(self._answers)

    @property
    def is_done(self) -> bool:
        """Whether all of them are."""
        return self.num_checked == self.num_answers

    def advance(self) -> None:
        """Run the next answer again without a cache, and compare.

        Raises ValueError if there is none left. What is raised on the way leaves the answer
        unchecked.
        """
        if self.is_done:
            raise ValueError(f"all {self.num_answers} answers are checked")
        place = self.num_checked
        answer = self._answers[place]
        dense = dense_logits(self._model, self._prompt_ids, answer.token_ids)  # [n, vocab_size]
        off = (dense - answer.logits).abs().max()
        differences = _first_difference(self._model, self._choices, place, answer, dense)
        self._largest = torch.maximum(self._largest, off)
        self._differences += differences
        self.num_checked += 1

    def proof(self) -> Proof:
        """What came of it, with what is left to check checked now."""
        while not self.is_done:
            self.advance()
        num_tokens = sum(len(answer.token_ids) for answer in self._answers)
        return Proof(num_tokens, tuple(self._differences), float(self._largest))


def check_of(generation: Generation) -> Check:
    """The check of all that a generation has so far. Raises ValueError if that is nothing."""
    answers = generation.answers()
    return Check(generation.model, generation.choices, generation.prompt_ids, answers)


def prove(generation: Generation) -> Proof:
    """Check all that a generation has so far. Raises ValueError if that is nothing."""
    return check_of(generation).proof()


@torch.inference_mode()
def dense_logits(
    model: LanguageModel, prompt_ids: Sequence[int], token_ids: Sequence[int]
) -> torch.Tensor:
    """Return the logits that each of an answer's n ``token_ids`` follows from, without any cache.

    [n, vocab_size] float32 on the CPU; the i-th sees the prompt and the i tokens before.
    """
    device = torch.device(kernels.runtime()["device"])
    # The last token is chosen and never processed.
    row = torch.tensor([*prompt_ids, *token_ids[:-1]], dtype=torch.int64, device=device)
    positions = torch.arange(len(row), device=device)
    last = positions[len(prompt_ids) - 1 :]  # whose logits lead to an answer's token
    logits: torch.Tensor = model(row, positions, causal_attention, last)  # [n, vocab_size]
    return logits.to("cpu", torch.float32)


def causal_attention(
    layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
) -> torch.Tensor:
    """Let every position attend to itself and all before it, in float64.

    ``query`` [..., n, num_heads, head_dim], ``key`` and ``value`` [..., n, num_kv_heads, head_dim];
    query head h reads KV head h // (num_heads / num_kv_heads). Returns what the query's shape is.
    """
    n, num_heads, head_dim = query.shape[-3:]
    group = num_heads // key.shape[-2]
    keys = key.double().repeat_interleave(group, dim=-2)
    values = value.double().repeat_interleave(group, dim=-2)
    scores = torch.einsum("...qhd,...khd->...hqk", query.double(), keys) * head_dim**-0.5
    later = torch.ones(n, n, dtype=torch.bool, device=query.device).triu(1)  # [query, key]
    weights = scores.masked_fill(later, -torch.inf).softmax(-1)
    return torch.einsum("...hqk,...khd->...qhd", weights, values).to(query.dtype)


def _first_difference(
    model: LanguageModel, choices: Choices, place: int, answer: Answer, dense: torch.Tensor
) -> list[Difference]:
    """Draw an answer's tokens again from ``dense`` [n, vocab_size]; list the first that differs."""
    again = draws(choices.seed, place, choices.length)
    for index, token_id in enumerate(answer.token_ids):
        other = pick(dense[index], choices.temperature, choices.top_k, again[index])
        if other != token_id:
            cached, drawn = model.tokenizer.pieces([token_id, other])
            return [Difference(answer.name, index, cached, drawn)]
    return []
