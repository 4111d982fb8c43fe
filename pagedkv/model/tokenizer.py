"""Text to token ids and back: one character is one token.

Real models cut text into longer pieces learnt from data; single characters keep every token
visible in one slot of the board, which is all that the lessons need. The vocabulary is fixed data,
the characters of the cleaned corpus in sorted order, so that ids never change with the text at
hand. There are no special tokens.
"""

from collections.abc import Iterable

VOCABULARY = "\n !',-.:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
VOCAB_SIZE = len(VOCABULARY)

_ID_OF = {character: token_id for token_id, character in enumerate(VOCABULARY)}


def encode(text: str) -> list[int]:
    """Return the token id of each character of `text`, in order.

    Raises ValueError naming every character outside the vocabulary, or what is no text at all.
    """
    if not isinstance(text, str):
        raise ValueError(f"text is {text!r}; it must be a string")
    unknown = sorted(set(text) - _ID_OF.keys())
    if unknown:
        named = ", ".join(repr(character) for character in unknown)
        raise ValueError(
            f"text has characters outside the vocabulary: {named}; the model knows {VOCABULARY!r}"
        )
    return [_ID_OF[character] for character in text]


def decode(token_ids: Iterable[int]) -> str:
    """Return the text of `token_ids`: the inverse of `encode`.

    Raises ValueError naming the first id outside 0 ... VOCAB_SIZE - 1.
    """
    characters = []
    for token_id in token_ids:
        if not 0 <= token_id < VOCAB_SIZE:
            raise ValueError(f"token_id {token_id} is outside 0 to {VOCAB_SIZE - 1}")
        characters.append(VOCABULARY[token_id])
    return "".join(characters)


def pieces(token_ids: Iterable[int]) -> tuple[str, ...]:
    """Return each token as it is written by itself: one character. Raises what `decode` raises."""
    return tuple(decode(token_ids))
