"""The passages that lessons take their prompts from: the first `prompt_length` characters of each.

All are Shakespeare's lines (in the public domain), spelt as in the corpus, each at least as long
as the longest prompt a learner can set. At six characters they read `ROMEO:`, `JULIET`, `To be,`
and `Now is`.
"""

PASSAGE_B = (
    "ROMEO:\n"
    "But soft! what light through yonder window breaks?\n"
    "It is the east, and Juliet is the sun!"
)
PASSAGE_C = (
    "JULIET:\nO Romeo, Romeo! wherefore art thou Romeo?\nDeny thy father and refuse thy name;"
)
PASSAGE_SHARED = (
    "To be, or not to be,--that is the question:--\nWhether 'tis nobler in the mind to suffer"
)
PASSAGE_D = "Now is the winter of our discontent\nMade glorious summer by this sun of York;"

# Differs from PASSAGE_SHARED at position 0 and nowhere else: the same characters at the same
# positions after another beginning, to show that their K and V differ all the same.
SHARED_VARIANT = "So" + PASSAGE_SHARED[2:]

LONGEST_PROMPT = 64  # characters


def prompt(passage: str, length: int) -> str:
    """Return the first `length` characters of `passage`.

    Raises ValueError unless `length` is 1 to LONGEST_PROMPT.
    """
    if not 1 <= length <= LONGEST_PROMPT:
        raise ValueError(f"prompt length {length} is outside 1 to {LONGEST_PROMPT}")
    return passage[:length]
