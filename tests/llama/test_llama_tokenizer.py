"""A folder's tokenizer: text to ids and back, and every token as something that can be shown."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_llama import SPECIAL, TOKENS, VOCAB, tokenizer
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

from pagedkv.llama.tokenizer import BYTE_OF, LlamaTokenizer


def loaded(folder, made: Tokenizer, vocab_size: int = VOCAB) -> LlamaTokenizer:
    made.save(str(folder / "tokenizer.json"))
    return LlamaTokenizer(folder, vocab_size)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> LlamaTokenizer:
    return loaded(tmp_path_factory.mktemp("tokenizer"), tokenizer())


def test_pieces_are_the_text_cut_up_with_the_space_before_a_word(tiny):
    ids = tiny.encode("the the 12 is<|im_end|>")
    assert tiny.pieces(ids) == ("t", "he", " the", " ", "1", "2", " is", "<|im_end|>")
    assert tiny.decode(ids) == "the the 12 is<|im_end|>"


def test_a_part_of_a_character_is_written_as_its_bytes(tiny):
    ids = tiny.encode("é€")
    assert tiny.pieces(ids) == ("é", "\\xe2", "\\x82", "\\xac")
    assert tiny.decode(ids) == "é€"
    assert tiny.decode(ids[:2]) == "é\ufffd"


def test_every_byte_has_a_visible_character_and_no_two_the_same():
    assert sorted(BYTE_OF) == sorted(pre_tokenizers.ByteLevel.alphabet())
    assert sorted(BYTE_OF.values()) == list(range(256))
    assert BYTE_OF["Ġ"] == ord(" ") and BYTE_OF["Ċ"] == ord("\n")


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_comes_back_and_any_of_its_pieces_can_be_shown(tiny, text):
    ids = tiny.encode(text)
    assert tiny.decode(ids) == text
    shown = tiny.pieces(ids)
    assert len(shown) == len(ids)
    "".join(shown).encode()  # text that can be sent to a browser


@given(st.lists(st.integers(0, VOCAB - 1)))
def test_any_ids_can_be_shown(tiny, ids):
    assert all(tiny.pieces(ids)) or not ids
    tiny.decode(ids).encode()


@pytest.mark.parametrize("token_id", [-1, VOCAB])
def test_an_id_that_the_model_lacks_is_refused(tiny, token_id):
    for ask in (tiny.decode, tiny.pieces):
        with pytest.raises(ValueError, match=f"token_id {token_id} is outside 0 to {VOCAB - 1}"):
            ask([0, token_id])


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "text is None; it must be a string"), ("a\ud800", "half of a character at index 1")],
)
def test_what_is_no_text_is_refused(tiny, text, message):
    with pytest.raises(ValueError, match=message):
        tiny.encode(text)


def test_characters_without_a_token_are_named_and_not_dropped(tmp_path):
    made = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    assert loaded(tmp_path, made, 3).encode("aab") == [0, 2]
    with pytest.raises(ValueError, match="without a token: 'x', 'y'"):
        loaded(tmp_path, made, 3).encode("ayxb")


def test_a_model_with_more_rows_than_tokens_shows_the_id(tmp_path):
    assert loaded(tmp_path, tokenizer(), VOCAB + 6).pieces([VOCAB + 5]) == (f"<{VOCAB + 5}>",)


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match=f"token id {VOCAB - 1}; the model knows 0 to {VOCAB - 2}"):
        loaded(tmp_path, tokenizer(), VOCAB - 1)


def test_added_tokens_are_shown_as_they_are_written(tmp_path):
    made = tokenizer()
    made.add_special_tokens([AddedToken("<｜begin▁of é｜>", special=True)])
    both = loaded(tmp_path, made, VOCAB + 1)
    assert both.pieces(both.encode("<｜begin▁of é｜>is")) == ("<｜begin▁of é｜>", "is")


def test_a_token_that_begins_every_text_is_there(tmp_path):
    made = tokenizer()
    made.post_processor = processors.TemplateProcessing(
        single=f"{SPECIAL[1]} $A", special_tokens=[(SPECIAL[1], 1)]
    )
    begun = loaded(tmp_path, made)
    assert begun.pieces(begun.encode("is")) == (SPECIAL[1], "is")


def test_sentencepiece_style_tokens_show_their_spaces_and_bytes(tmp_path):
    vocab = {"<unk>": 0, "▁": 1, "a": 2, "▁a": 3, "<0x0A>": 4}
    made = Tokenizer(models.BPE(vocab, [("▁", "a")], unk_token="<unk>", byte_fallback=True))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Sequence([decoders.Metaspace(), decoders.ByteFallback()])
    pieces = loaded(tmp_path, made, 5)
    assert pieces.pieces([3, 2, 4]) == (" a", "a", "<0x0A>")


def test_a_folders_truncation_does_not_cut_prompts(tmp_path):
    made = tokenizer()
    made.enable_truncation(2)
    made.enable_padding(length=9)
    assert len(loaded(tmp_path, made).encode("1234")) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "tokenizer.json is no tokenizer"),
        ('{"model": 5}', "tokenizer.json is no tokenizer"),
        ("[", "tokenizer.json is no JSON"),
    ],
)
def test_a_broken_file_is_named(tmp_path, text, message):
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        LlamaTokenizer(tmp_path, VOCAB)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"tokenizer\.json cannot be read"):
        LlamaTokenizer(tmp_path, VOCAB)


def test_without_the_package_its_install_line_is_said(tmp_path, monkeypatch):
    (tmp_path / "tokenizer.json").write_text(json.dumps({}))
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ValueError, match=r"pip install -r requirements-smollm\.txt"):
        LlamaTokenizer(tmp_path, VOCAB)


def test_the_tiny_vocabulary_has_every_byte():
    """So that no text of the tests above could be refused for another reason."""
    assert set(BYTE_OF) <= set(TOKENS)
