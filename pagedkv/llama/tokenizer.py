"""Text to token ids and back, as the model's own `tokenizer.json` says.

The package `tokenizers` does the cutting. It is not among the app's requirements, so it is imported
when a tokenizer is loaded and not before.

Byte-level tokenizers write every byte of a token as a visible character: printable bytes of
Latin-1 as themselves, the others, in rising order, as the characters from U+0100 on (a space
becomes Ġ). A token may end in the middle of a character of UTF-8, and then it is no text by
itself; `pieces` writes the bytes of such a part as `\\xf0`.
"""

import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from .json_file import read_json

TOKENIZER_FILE = "tokenizer.json"
LARGEST_TOKENIZER = 64_000_000  # bytes
INSTALL = "pip install -r requirements-smollm.txt"


def _byte_characters() -> dict[str, int]:
    """The byte for each of the 256 visible characters of byte-level tokenizers.

    As in GPT-2 (Radford et al. 2019, section 2.2, and the code released with it).
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = (byte for byte in range(256) if byte not in printable)
    return {chr(byte): byte for byte in printable} | {
        chr(0x100 + i): byte for i, byte in enumerate(others)
    }


BYTE_OF = _byte_characters()


class LlamaTokenizer:
    """The tokenizer of a folder; a `pagedkv.language_model.Tokenizer`.

    Where the folder says that every text begins with a token of its own, `encode` puts it there,
    for the model was trained so; it has a position, a slot and KV like any other.
    """

    def __init__(self, folder: Path, vocab_size: int) -> None:
        """Load the folder's `tokenizer.json` for a model that knows ids 0 ... `vocab_size` - 1.

        Raises ValueError for a file that is missing, broken, or knows an id that the model lacks,
        and where the package `tokenizers` is not installed.
        """
        path = folder / TOKENIZER_FILE
        described = read_json(path, LARGEST_TOKENIZER)
        self._tokenizer = _parse(path, described)
        self._vocab_size = vocab_size
        self._byte_level = "ByteLevel" in _types(described.get("decoder"))
        added = self._tokenizer.get_added_tokens_decoder()
        self._added = {token_id: str(token.content) for token_id, token in added.items()}
        largest = max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)
        if largest >= vocab_size:
            raise ValueError(
                f"{path} has the token id {largest}; the model knows 0 to {vocab_size - 1}"
            )

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text's tokens, with those that the folder puts around every text.

        Raises ValueError for what is no text, and naming every character that has no token.
        """
        if not isinstance(text, str):
            raise ValueError(f"text is {text!r}; it must be a string")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"text has half of a character at index {error.start}") from None
        unknown = sorted(filter(self._has_no_token, set(text)))
        if unknown:
            named = ", ".join(repr(character) for character in unknown)
            raise ValueError(f"text has characters without a token: {named}")
        return list(self._tokenizer.encode(text).ids)

    def decode(self, token_ids: Iterable[int]) -> str:
        """Return the text of the tokens together; part of a character becomes U+FFFD.

        Raises ValueError naming the first id that the model does not know.
        """
        return str(self._tokenizer.decode(self._checked(token_ids), skip_special_tokens=False))

    def pieces(self, token_ids: Iterable[int]) -> tuple[str, ...]:
        """Return each token as it is written by itself, the space before a word with it.

        Bytes that are no whole character are written like `\\xf0`, an id without a token like
        `<49152>`. Raises what `decode` raises.
        """
        return tuple(self._piece(token_id) for token_id in self._checked(token_ids))

    def _has_no_token(self, character: str) -> bool:
        """Whether the package would drop it silently; space may go, by a folder's own rule."""
        ids = self._tokenizer.encode(character, add_special_tokens=False).ids
        return not ids and not character.isspace()

    def _piece(self, token_id: int) -> str:
        token = self._tokenizer.id_to_token(token_id)
        if token is None:  # a model may have more rows than its tokenizer has tokens
            return f"<{token_id}>"
        if token_id in self._added:
            return self._added[token_id]
        if self._byte_level and all(character in BYTE_OF for character in token):
            written = bytes(BYTE_OF[character] for character in token)
            return written.decode("utf-8", errors="backslashreplace")
        return str(token).replace("\u2581", " ")  # how SentencePiece writes a space

    def _checked(self, token_ids: Iterable[int]) -> list[int]:
        ids = list(token_ids)
        for token_id in ids:
            if not 0 <= token_id < self._vocab_size:
                raise ValueError(f"token_id {token_id} is outside 0 to {self._vocab_size - 1}")
        return ids


def _parse(path: Path, described: dict[str, Any]) -> Any:
    try:
        tokenizers = import_module("tokenizers")
    except ImportError as error:
        raise ValueError(
            f"the package tokenizers is needed to read {path} ({error}); {INSTALL}"
        ) from error
    try:
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(described))
    except Exception as error:  # the package raises nothing more precise
        raise ValueError(f"{path} is no tokenizer: {error}") from None
    tokenizer.no_truncation()  # every token of a text counts here, and no others
    tokenizer.no_padding()
    return tokenizer


def _types(part: object) -> Iterator[str]:
    """Every `type` in a part of a tokenizer's description."""
    if isinstance(part, dict):
        yield str(part.get("type"))
        for inner in part.values():
            yield from _types(inner)
    if isinstance(part, list):
        for inner in part:
            yield from _types(inner)
