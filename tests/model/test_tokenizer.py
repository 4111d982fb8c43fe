import pytest

from pagedkv.model.tokenizer import VOCAB_SIZE, VOCABULARY, decode, encode


def test_the_vocabulary_is_sorted_without_repeats():
    assert list(VOCABULARY) == sorted(set(VOCABULARY))
    assert len(VOCABULARY) == VOCAB_SIZE == 62


def test_decode_undoes_encode_for_every_character():
    assert encode(VOCABULARY) == list(range(VOCAB_SIZE))
    assert decode(encode(VOCABULARY[::-1])) == VOCABULARY[::-1]


def test_empty_text_is_no_tokens():
    assert encode("") == []
    assert decode([]) == ""


def test_encode_names_each_character_outside_the_vocabulary_once():
    with pytest.raises(ValueError, match="vocabulary") as refusal:
        encode("2 rosés, 2 <b>")
    for character in ("'2'", "'<'", "'>'", "'é'"):
        assert str(refusal.value).count(character) == 1


def test_encode_names_an_invisible_character_readably():
    with pytest.raises(ValueError, match=r"'\\t'"):
        encode("a\tb")


@pytest.mark.parametrize("token_id", [-1, VOCAB_SIZE])
def test_decode_names_an_id_outside_the_vocabulary(token_id):
    with pytest.raises(ValueError, match=f"{token_id} is outside 0 to {VOCAB_SIZE - 1}"):
        decode([0, token_id])
