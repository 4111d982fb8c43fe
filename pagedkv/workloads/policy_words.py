"""What each policy does with a memory, in a line; no text of a visitor's occurs in it."""

from pagedkv.workloads.names import NAMES

WHY = (
    "Slots that are reserved and hold no token are of no use to anybody: fewer requests run. "
    "Blocks leave only the end of an answer's last one empty."
)
DOES = {
    "max": "reserves the maximum length for each answer, in one piece, before it starts.",
    "pow2": "reserves the prompt, and the answer rounded up to a power of two.",
    "oracle": "reserves just what will be filled, as if the answer's length were known.",
    "paged": "takes a block when tokens need one, anywhere in the memory.",
}


def policy_lines() -> str:
    """A line for each policy, in Markdown: its name, and what it does."""
    return "\n".join(f"- **{NAMES[policy]}** {does}" for policy, does in DOES.items())
