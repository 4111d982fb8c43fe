"""Choices: what is refused, and that the refusal says what would do."""

from copy import copy
from dataclasses import replace

import pytest

from pagedkv.engine import TOKEN_BUDGET
from pagedkv.generate import LONGEST_PROMPT, ChoiceError, Choices
from pagedkv.generate.choices import encode_prompt


@pytest.mark.parametrize(
    ("field", "value", "would_do"),
    [
        ("num_answers", 0, "from 1 to 8"),
        ("num_answers", 9, "from 1 to 8"),
        ("num_answers", 2.0, "from 1 to 8"),
        ("num_answers", True, "from 1 to 8"),
        ("length", 0, "from 1 to 128"),
        ("length", 129, "from 1 to 128"),
        ("top_k", 0, "from 1 to"),
        ("seed", -1, "from 0 to"),
        ("block_size", 33, "from 1 to 32"),
        ("temperature", -0.1, "from 0 to 2"),
        ("temperature", 2.5, "from 0 to 2"),
        ("temperature", float("nan"), "from 0 to 2"),
        ("temperature", True, "from 0 to 2"),
        ("temperature", "1", "from 0 to 2"),
        ("prompt", "", "not empty"),
        ("prompt", None, "not empty"),
    ],
)
def test_what_cannot_be_is_refused_by_name_with_what_would_do(field, value, would_do):
    with pytest.raises(ChoiceError) as refusal:
        Choices(**{field: value})
    message = str(refusal.value)
    assert message.startswith(f"{field} is {value!r}")
    assert would_do in message


@pytest.mark.parametrize(
    "value",
    ["x" * 9999, [1] * 9999, 10**400, -(1 << 20_000)],
    ids=["text", "list", "large", "huge"],
)
@pytest.mark.parametrize("field", ["num_answers", "seed", "temperature", "model"])
def test_a_long_value_is_repeated_in_part(field, value):
    with pytest.raises(ChoiceError, match=f"^{field} is .*…?; it must be ") as refusal:
        Choices(**{field: value})
    assert len(str(refusal.value)) < 120


def test_of_a_prompt_in_a_foreign_script_not_every_character_is_named(model):
    prompt = "".join(map(chr, range(0x4E00, 0x4E00 + 999)))
    with pytest.raises(ChoiceError, match=r"outside the vocabulary.*…$") as refusal:
        encode_prompt(Choices(prompt=prompt), model)
    assert len(str(refusal.value)) < 300


def test_a_prompt_that_becomes_no_token_is_refused(model):
    class Trimming:
        """A tokenizer may cut white space off, and then nothing is left of some texts."""

        def encode(self, text):
            return model.tokenizer.encode(text.strip())

    trimming = copy(model)
    trimming.tokenizer = Trimming()
    assert encode_prompt(Choices(prompt=" a "), trimming) == tuple(model.tokenizer.encode("a"))
    with pytest.raises(ChoiceError, match=r"prompt is '   ', of which .* makes no token"):
        encode_prompt(Choices(prompt="   "), trimming)


def test_the_ends_of_the_ranges_are_allowed(model):
    for fields in (
        {"num_answers": 1, "length": 1, "top_k": 1, "temperature": 0, "block_size": 1},
        {"num_answers": 8, "length": 128, "top_k": 62, "temperature": 2.0, "block_size": 32},
    ):
        choices = Choices(prompt="x" * LONGEST_PROMPT, seed=2**31 - 1, **fields)
        assert len(encode_prompt(choices, model)) == LONGEST_PROMPT


def test_answers_are_named_in_order():
    assert Choices(num_answers=3).names == ("R1", "R2", "R3")


def test_a_prompt_becomes_the_models_tokens(model):
    choices = Choices(prompt="To be")
    assert model.tokenizer.decode(encode_prompt(choices, model)) == "To be"


def test_characters_that_the_model_does_not_know_are_named(model):
    with pytest.raises(ChoiceError, match=r"prompt: .*'<', 'ü'"):
        encode_prompt(Choices(prompt="<ü"), model)


def test_a_prompt_must_fit_one_execution(model):
    assert LONGEST_PROMPT == TOKEN_BUDGET
    with pytest.raises(ChoiceError, match=r"prompt has 129 tokens; .* 128 at most"):
        encode_prompt(Choices(prompt="x" * 129, length=1), model)


def test_prompt_and_answer_must_fit_the_models_context(model):
    small = type(model)(replace(model.config, context=20))
    encode_prompt(Choices(prompt="x" * 12, length=8), small)
    with pytest.raises(ChoiceError, match=r"length is 9; .*at most 8, .*context has 20"):
        encode_prompt(Choices(prompt="x" * 12, length=9), small)


def test_top_k_must_not_exceed_the_vocabulary(model):
    with pytest.raises(ChoiceError, match="top_k is 63; this model has 62 tokens"):
        encode_prompt(Choices(top_k=63), model)
