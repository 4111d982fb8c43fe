"""Train the model again: `python -m pagedkv.model.train`.

Takes some minutes on two cores. The result is a weights file like the committed one: with the same
seed the validation loss comes out within 0.03 nats, though not bit for bit, since sums of floats
depend on the machine.

This is the only place where attention is computed over a dense batch. The product never does so.
"""

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from . import WEIGHTS_PATH
from .config import ModelConfig
from .corpus import ARCHIVE_SHA256, REQUIREMENT, load_corpus
from .gpt import CharGPT
from .tokenizer import encode
from .weights import TrainingRecord, save_weights


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides the result of a training run, beside the corpus and the model's sizes."""

    steps: int = 1_200
    seed: int = 0
    batch: int = 16  # windows a step
    window: int = 256  # characters a window: the whole context, so that every position is learnt
    learning_rate: float = 4e-3  # at its peak
    warmup: int = 100  # steps
    final_rate: float = 0.01  # of the peak, reached in the last step
    betas: tuple[float, float] = (0.9, 0.99)  # of AdamW
    weight_decay: float = 0.1
    clip: float = 1.0  # the largest norm of a gradient
    validation_share: float = 0.05  # the corpus' last part, never trained on


def dense_causal_attend(layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attend within each window of a batch: row i sees rows 0 ... i (see `Attend`)."""
    query, key, value = (x.transpose(-3, -2) for x in (query, key, value))  # [..., heads, n, dim]
    group = query.shape[-3] // key.shape[-3]  # query heads that share a KV head
    key, value = (x.repeat_interleave(group, dim=-3) for x in (key, value))
    mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    return mixed.transpose(-3, -2)


def train(text: str, recipe: Recipe, log: Callable[[str], None] = print) -> CharGPT:
    """Return a model trained on `text` less its validation share, rounded to fp16 values.

    Raises ValueError if `text` is too short or has a character outside the vocabulary.
    """
    training, _ = split(text, recipe)
    torch.manual_seed(recipe.seed)
    model = CharGPT(ModelConfig())
    optimizer = _optimizer(model, recipe)
    started = time.monotonic()
    for step in range(recipe.steps):
        loss = _learn(model, optimizer, _random_windows(training, recipe), step, recipe)
        if step % 50 == 0 or step == recipe.steps - 1:
            log(f"step {step:5d}  loss {loss:.3f}  {time.monotonic() - started:4.0f} s")
    return model.half().float()  # what the file holds is what gets evaluated


@torch.no_grad()
def evaluate(model: CharGPT, token_ids: Tensor, window: int) -> float:
    """Return the mean loss over `token_ids` [n] cut into windows, in nats per character."""
    whole = (len(token_ids) - 1) // window * window
    windows = token_ids[: whole + 1].unfold(0, window + 1, window)  # [windows, window + 1]
    losses = [_loss(model, batch).item() * len(batch) for batch in torch.split(windows, 64)]
    return sum(losses) / len(windows)


def split(text: str, recipe: Recipe) -> tuple[Tensor, Tensor]:
    """Return the token ids [n] int64 to train on and those to validate with, the text's last part.

    Raises ValueError if either part is shorter than a window and the character after it.
    """
    token_ids = torch.tensor(encode(text), dtype=torch.int64)
    cut = round(len(token_ids) * (1 - recipe.validation_share))
    if min(cut, len(token_ids) - cut) <= recipe.window:
        raise ValueError(
            f"text has {len(text)} characters; with a validation share of "
            f"{recipe.validation_share} each part needs more than {recipe.window}"
        )
    return token_ids[:cut], token_ids[cut:]


def _learn(
    model: CharGPT, optimizer: torch.optim.Optimizer, windows: Tensor, step: int, recipe: Recipe
) -> float:
    """Do one step of gradient descent; return the loss before it."""
    for group in optimizer.param_groups:
        group["lr"] = _learning_rate(step, recipe)
    loss = _loss(model, windows)
    optimizer.zero_grad()
    torch.autograd.backward(loss)
    torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
    optimizer.step()
    return loss.item()


def _random_windows(token_ids: Tensor, recipe: Recipe) -> Tensor:
    """Return [batch, window + 1] characters from random places: inputs, and the one after each."""
    starts = torch.randint(len(token_ids) - recipe.window, (recipe.batch, 1))
    return token_ids[starts + torch.arange(recipe.window + 1)]


def _loss(model: CharGPT, windows: Tensor) -> Tensor:
    """Return the mean cross-entropy of predicting each window's next characters."""
    inputs, targets = windows[:, :-1], windows[:, 1:]
    logits = model(inputs, torch.arange(inputs.shape[1]), dense_causal_attend)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _optimizer(model: CharGPT, recipe: Recipe) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.ndim == 2]
    gains = [p for p in model.parameters() if p.ndim == 1]  # norms: decay would pull them to zero
    groups = [
        {"params": matrices, "weight_decay": recipe.weight_decay},
        {"params": gains, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, betas=recipe.betas)


def _learning_rate(step: int, recipe: Recipe) -> float:
    """Linear warm-up, then half a cosine from the peak down to its ``final_rate``."""
    if step < recipe.warmup:
        return recipe.learning_rate * (step + 1) / recipe.warmup
    progress = (step - recipe.warmup) / max(1, recipe.steps - recipe.warmup)
    cosine = (1 + math.cos(math.pi * progress)) / 2  # from 1 to 0
    return recipe.learning_rate * (recipe.final_rate + (1 - recipe.final_rate) * cosine)


def main(arguments: list[str] | None = None) -> None:
    """Train as the command line says and write the weights file."""
    options = _parse(arguments)
    recipe = Recipe(steps=options.steps, seed=options.seed)
    text = load_corpus()
    model = train(text, recipe, log=partial(print, flush=True))
    loss = evaluate(model, split(text, recipe)[1], recipe.window)
    record = TrainingRecord(
        config=model.config,
        seed=recipe.seed,
        steps=recipe.steps,
        corpus=REQUIREMENT,
        corpus_sha256=ARCHIVE_SHA256,
        validation_loss=round(loss, 4),
    )
    save_weights(options.out, model, record)
    print(f"validation loss {loss:.3f} nats per character; wrote {options.out}")


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m pagedkv.model.train",
        description="Train the character model on Shakespeare's plays and write its weights.",
    )
    parser.add_argument("--steps", type=int, default=Recipe().steps, help="default %(default)s")
    parser.add_argument("--seed", type=int, default=Recipe().seed, help="default %(default)s")
    parser.add_argument("--out", type=Path, default=WEIGHTS_PATH, help="the weights file to write")
    options = parser.parse_args(arguments)
    if options.steps < 1:
        parser.error(f"--steps {options.steps}: at least 1 is needed")
    if not options.out.parent.is_dir():  # better said now than after minutes of training
        parser.error(f"--out {options.out}: there is no folder {options.out.parent}")
    return options


if __name__ == "__main__":
    main()
