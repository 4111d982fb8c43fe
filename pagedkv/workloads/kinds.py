"""What a study can vary."""

from enum import StrEnum

from pagedkv.workloads.messages import any_of, cut
from pagedkv.workloads.workload import WorkloadError


class StudyKind(StrEnum):
    """What is varied of a setup; the values are the words that the page's widget keeps.

    ``StudyKind(word)`` raises ``WorkloadError`` for another word.
    """

    POLICIES = "policies"
    BLOCK_SIZES = "block sizes"
    SHARING = "sharing"

    @classmethod
    def _missing_(cls, value: object) -> "StudyKind":
        raise WorkloadError(f"kind is {cut(value)}; it must be {any_of(tuple(cls))}")
