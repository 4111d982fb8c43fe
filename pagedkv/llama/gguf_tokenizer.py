"""The tokenizer inside a GGUF file, written as a `tokenizer.json`.

GGUF keeps the tokens in order of their ids, the merges of byte-pair encoding in order of their
rank, a type for each token, and the name of the rule that cuts text before any merge. The rule
itself is not in the file: it has to be known by name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

PREFIX = "tokenizer.ggml."

_BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,  # GPT-2's own cutting: words, numbers and punctuation, with the space before
}
_DIGITS = {"type": "Digits", "individual_digits": True}

# How text is cut before merging, by the rule's name in the file.
_PRE_TOKENIZERS: Mapping[str, dict[str, Any]] = {
    "gpt-2": _BYTE_LEVEL,
    "smollm": {"type": "Sequence", "pretokenizers": [_DIGITS, _BYTE_LEVEL]},
}

_CONTROL, _USER_DEFINED = 3, 4  # token types: never made by merging, found in the text as a whole
_ORDINARY = 1


def tokenizer_description(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of a `tokenizer.json` for a GGUF file's `fields`, by their full names.

    Raises ValueError, naming field and value, for a tokenizer that is not byte-level BPE with a
    rule known here, and for lists that are missing or do not fit together.
    """
    if fields.get(f"{PREFIX}model") != "gpt2":
        raise ValueError(
            f"{PREFIX}model is {fields.get(f'{PREFIX}model')!r}; supported is only 'gpt2', "
            "byte-level BPE"
        )
    rule = fields.get(f"{PREFIX}pre")
    if not isinstance(rule, str) or rule not in _PRE_TOKENIZERS:
        raise ValueError(f"{PREFIX}pre is {rule!r}; known are {', '.join(_PRE_TOKENIZERS)}")
    if fields.get(f"{PREFIX}add_space_prefix", False):
        raise ValueError(f"{PREFIX}add_space_prefix is true; supported is only false")
    tokens, merges = _texts(fields, "tokens"), _texts(fields, "merges")
    types = fields.get(f"{PREFIX}token_type", [_ORDINARY] * len(tokens))
    if len(types) != len(tokens) or len(set(tokens)) != len(tokens):
        raise ValueError(f"{PREFIX}tokens must differ and have one {PREFIX}token_type each")
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _added(tokens, types),
        "normalizer": None,
        "pre_tokenizer": _PRE_TOKENIZERS[rule],
        "post_processor": _around_every_text(fields, tokens),
        "decoder": _BYTE_LEVEL,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: token_id for token_id, token in enumerate(tokens)},
            "merges": merges,  # "left right"; neither half holds a space, which is written Ġ
        },
    }


def _texts(fields: Mapping[str, Any], name: str) -> list[str]:
    found = fields.get(f"{PREFIX}{name}")
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise ValueError(f"{PREFIX}{name} is missing or no list of texts")
    return found


def _added(tokens: Sequence[str], types: Sequence[int]) -> list[dict[str, Any]]:
    """Tokens that are found in a text as a whole, such as `<|im_start|>`."""
    return [
        {
            "id": token_id,
            "content": token,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": kind == _CONTROL,
        }
        for token_id, (token, kind) in enumerate(zip(tokens, types, strict=True))
        if kind in (_CONTROL, _USER_DEFINED)
    ]


def _around_every_text(fields: Mapping[str, Any], tokens: Sequence[str]) -> dict[str, Any] | None:
    """The token before every text, if the file asks for one; None if for nothing."""
    if fields.get(f"{PREFIX}add_eos_token", False):
        raise ValueError(f"{PREFIX}add_eos_token is true; supported is only false")
    if not fields.get(f"{PREFIX}add_bos_token", False):
        return None
    first = fields.get(f"{PREFIX}bos_token_id")
    if not isinstance(first, int) or not 0 <= first < len(tokens):
        raise ValueError(f"{PREFIX}bos_token_id is {first!r}, and {PREFIX}add_bos_token is true")
    token = tokens[first]
    begin = {"SpecialToken": {"id": token, "type_id": 0}}
    text, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    return {
        "type": "TemplateProcessing",
        "single": [begin, text],
        "pair": [begin, text, second],
        "special_tokens": {token: {"id": token, "ids": [first], "tokens": [token]}},
    }
