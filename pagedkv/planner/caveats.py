"""What numbers do not say by themselves: why an engine would not run a plan, how to read it.

A plan is counted as the formulas have it, even where an engine would refuse to start.
"""

from collections.abc import Iterator

from pagedkv.planner.choices import Choices, can_share_kv, can_share_queries
from pagedkv.planner.groups import most_seen
from pagedkv.planner.plan import Plan


def warning_words(plan: Plan) -> tuple[str, ...]:
    """Why the planned could not run as it is counted, in sentences; mostly none."""
    return tuple(_warnings(plan))


def note_words(plan: Plan) -> tuple[str, ...]:
    """How the numbers of layers with a window hang together, in sentences; none without them."""
    return tuple(_notes(plan))


def sharing_words(choices: Choices) -> tuple[str, ...]:
    """That an engine would not start, where so many GPUs cannot share the heads."""
    heads = unshared_words(choices)
    if not heads:
        return ()
    return (
        f"Engines refuse to share {heads} between {choices.tp:,} GPUs. This is counted, but would "
        "not start.",
    )


def unshared_words(choices: Choices) -> str:
    """Which heads so many GPUs cannot share evenly, as engines want it; "" if they can."""
    geometry = choices.geometry
    if not can_share_kv(geometry, choices.tp):
        return f"{geometry.num_kv_heads} KV heads"
    if not can_share_queries(geometry, choices.tp):
        return f"{geometry.num_heads} query heads"
    return ""


def _warnings(plan: Plan) -> Iterator[str]:
    choices = plan.choices
    yield from sharing_words(choices)
    if plan.fits and plan.blocks_per_request == plan.num_blocks:
        yield (
            "vLLM counts all blocks, but keeps one back once it runs. A request of "
            f"{choices.max_len:,} positions needs them all, so it could never run."
        )
    if choices.geometry.latent is not None and choices.dtype_bytes == 1:
        yield (
            "A latent is counted at 1 byte a number here; an fp8 layout of vLLM keeps part of it "
            "in more bytes, so fewer requests may fit."
        )


def _notes(plan: Plan) -> Iterator[str]:
    choices = plan.choices
    geometry = choices.geometry
    if geometry.window is None:
        return
    most = most_seen(geometry.window, choices.batched_tokens)
    layers = "1 layer" if geometry.windowed_layers == 1 else f"{geometry.windowed_layers} layers"
    yield (
        f"The {layers} with a window keep at most {most:,} positions of a request, so a longer one "
        "takes less than its length × bytes per token."
    )
    if geometry.is_hybrid:
        yield (
            "Positions is what vLLM logs: as if every request filled all "
            f"{len(plan.groups)} groups of layers alike."
        )
