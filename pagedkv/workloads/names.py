"""What tells one simulation of a study from the others, in words."""

from pagedkv.trace.written import Phrases
from pagedkv.workloads.setup import Setup

NAMES = {"max": "Max", "pow2": "Pow2", "oracle": "Oracle", "paged": "Paged"}

WORDS = Phrases(
    {
        "policies": "{policy}",
        "block sizes": "Blocks of {block_size}",
        "sharing": "{answers} answers to a prompt",
    }
)


def setup_words(kind: str, setup: Setup) -> str:
    """Name a setup by what a study of this kind varies."""
    return WORDS.say(
        kind,
        policy=NAMES[setup.policy],
        block_size=setup.block_size,
        answers=setup.answers,
    )
