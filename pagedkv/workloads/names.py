"""What tells one simulation of a study from the others, in words."""

from pagedkv.trace.written import Phrases
from pagedkv.workloads.kinds import StudyKind
from pagedkv.workloads.setup import Setup

NAMES = {"max": "Max", "pow2": "Pow2", "oracle": "Oracle", "paged": "Paged"}

WORDS = Phrases(
    {
        StudyKind.POLICIES: "{policy}",
        StudyKind.BLOCK_SIZES: "Blocks of {block_size}",
        StudyKind.SHARING: "{answers} answers to a prompt",
    }
)
VARIED = {
    StudyKind.POLICIES: "policy",
    StudyKind.BLOCK_SIZES: "block size",
    StudyKind.SHARING: "answers",
}


def setup_words(kind: StudyKind, setup: Setup) -> str:
    """Name a setup by what a study of this kind varies."""
    return WORDS.say(
        kind,
        policy=NAMES[setup.policy],
        block_size=setup.block_size,
        answers=setup.answers,
    )
