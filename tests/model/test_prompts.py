import pytest

from pagedkv.model.prompts import (
    LONGEST_PROMPT,
    PASSAGE_B,
    PASSAGE_C,
    PASSAGE_D,
    PASSAGE_SHARED,
    SHARED_VARIANT,
    prompt,
)
from pagedkv.model.tokenizer import decode, encode

PASSAGES = [PASSAGE_B, PASSAGE_C, PASSAGE_SHARED, PASSAGE_D, SHARED_VARIANT]


@pytest.mark.parametrize("passage", PASSAGES)
def test_every_passage_can_fill_the_longest_prompt_and_be_encoded(passage):
    assert len(prompt(passage, LONGEST_PROMPT)) == LONGEST_PROMPT == 64
    assert decode(encode(passage)) == passage


def test_the_prompts_of_six_characters():
    assert [prompt(passage, 6) for passage in PASSAGES] == [
        "ROMEO:",
        "JULIET",
        "To be,",
        "Now is",
        "So be,",
    ]


def test_passages_differ_from_their_first_character():
    assert len({passage[0] for passage in PASSAGES}) == len(PASSAGES)


def test_the_variant_differs_from_the_shared_passage_at_position_0_alone():
    assert SHARED_VARIANT[0] != PASSAGE_SHARED[0]
    assert SHARED_VARIANT[1:] == PASSAGE_SHARED[1:]


@pytest.mark.parametrize("length", [0, 65, -1])
def test_a_length_out_of_range_is_refused_with_the_range(length):
    with pytest.raises(ValueError, match=f"{length} is outside 1 to 64"):
        prompt(PASSAGE_B, length)
