"""From logits to the next token: temperature, top-k, and one drawn number.

All of it happens on the CPU in float64, whatever computed the logits, and a draw is a number that
both the cached run and its dense check can be given: two sets of logits that differ by a rounding
error then nearly always lead to the same token. Nearly, because a draw may fall into the hair's
breadth between them.
"""

import torch

from pagedkv.checks import require_whole_number

DRAWS_APART = 64  # seeds per learner's seed: no two answers of any two runs share one


def draws(seed: int, answer: int, count: int) -> tuple[float, ...]:
    """Return ``count`` numbers from [0, 1), those of answer ``answer`` (from 0) at this seed.

    Answers differ because their draws do. Raises ValueError for negative numbers and for an answer
    of 64 or more.
    """
    require_whole_number("seed", seed, least=0)
    require_whole_number("answer", answer, least=0, most=DRAWS_APART - 1)
    require_whole_number("count", count, least=0)
    generator = torch.Generator().manual_seed(seed * DRAWS_APART + answer)
    drawn: list[float] = torch.rand(count, generator=generator, dtype=torch.float64).tolist()
    return tuple(drawn)


def pick(logits: torch.Tensor, temperature: float, top_k: int, draw: float) -> int:
    """Return the id of the token that ``draw``, from [0, 1), leads to.

    Of ``logits`` [vocab_size] the ``top_k`` likeliest are kept, of equal ones the lower id; they
    stand beside each other in the order of their ids, each as wide as its probability
    softmax(logits / temperature), and ``draw`` points at one. At temperature 0 it is the likeliest.
    Raises ValueError for logits that are not finite: nothing could be drawn from them.
    """
    scores = logits.detach().to("cpu", torch.float64)  # [vocab_size]
    if not bool(scores.isfinite().all()):
        raise ValueError("logits must be finite numbers; something before them is broken")
    likeliest = scores.sort(descending=True, stable=True).indices[:top_k]  # [top_k]
    if temperature == 0:
        return int(likeliest[0])
    widths = torch.zeros_like(scores)
    # Less the largest first: nothing overflows, however small the temperature.
    widths[likeliest] = ((scores[likeliest] - scores[likeliest[0]]) / temperature).exp()
    ends = widths.cumsum(0)  # [vocab_size]
    return int(torch.searchsorted(ends, draw * ends[-1], right=True))
