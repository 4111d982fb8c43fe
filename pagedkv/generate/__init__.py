"""Several answers to one prompt, generated on the real cache, measured and proved.

``Generation`` runs ``Choices`` one execution at a time and can be stopped after any. ``keep`` packs
what there is: texts, the blocks held at every moment, the frames for the player, and the proof by a
forward pass that knows no cache.

Read in this order: ``choices``, ``sampling``, ``generation``, ``usage``, ``dense_check``, ``kept``.
What came of it is told by ``story`` (captions of frames) and ``sentences`` (around them).
"""

from pagedkv.generate.choices import (
    COURSE,
    HIGHEST_TEMPERATURE,
    LARGE,
    LONGEST_PROMPT,
    LONGEST_TEXT,
    MODELS,
    RANGES,
    ChoiceError,
    Choices,
)
from pagedkv.generate.dense_check import Check, Proof, check_of, prove
from pagedkv.generate.generation import Generation
from pagedkv.generate.kept import Kept, Stretch, keep
from pagedkv.generate.shelf import Shelf
from pagedkv.generate.usage import Moment, Usage

__all__ = [
    "COURSE",
    "HIGHEST_TEMPERATURE",
    "LARGE",
    "LONGEST_PROMPT",
    "LONGEST_TEXT",
    "MODELS",
    "RANGES",
    "Check",
    "ChoiceError",
    "Choices",
    "Generation",
    "Kept",
    "Moment",
    "Proof",
    "Shelf",
    "Stretch",
    "Usage",
    "check_of",
    "keep",
    "prove",
]
