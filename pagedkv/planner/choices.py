"""What is planned for: a model, a memory, and how the engine is set."""

from dataclasses import MISSING, dataclass, fields

from pagedkv.planner.checking import Named, PlanError, require_whole, shown
from pagedkv.planner.geometry import Geometry
from pagedkv.planner.memory import Memory

RANGES: dict[str, range] = {
    "tp": range(1, 1025),
    "block_size": range(1, 65_537),
    "max_len": range(1, 100_000_001),
    "batched_tokens": range(1, 10_000_001),
}
DTYPES = {1: "fp8", 2: "fp16 or bf16", 4: "fp32", 8: "fp64"}  # bytes of a number: what has them


@dataclass(frozen=True, slots=True)
class Choices:
    """One choice. ``dtype_bytes`` are those of one number in the cache, a key of ``DTYPES``.

    ``memory`` is that of each of the ``tp`` GPUs. ``block_size`` is in positions, ``max_len`` the
    longest request, prompt and answer together. ``batched_tokens`` are the most that one step of
    the engine processes (vLLM's ``max_num_batched_tokens``); only windowed layers ask for it.
    Raises ``PlanError`` for what ``RANGES`` lacks.
    """

    geometry: Geometry
    memory: Memory
    dtype_bytes: int = 2
    tp: int = 1
    block_size: int = 16
    max_len: int = 8192
    batched_tokens: int = 8192

    def __post_init__(self) -> None:
        if type(self.dtype_bytes) is not int or self.dtype_bytes not in DTYPES:
            known = ", ".join(f"{size} ({name})" for size, name in DTYPES.items())
            raise PlanError(
                Named("dtype_bytes"), f" is {shown(self.dtype_bytes)}; it must be one of {known}"
            )
        for name, allowed in RANGES.items():
            require_whole(name, getattr(self, name), allowed)


USUAL: dict[str, int] = {  # what is taken for a number that nobody chose
    field.name: field.default for field in fields(Choices) if field.default is not MISSING
}


def can_share(geometry: Geometry, tp: int) -> bool:
    """Whether ``tp`` GPUs can each take as many heads, as engines want it.

    Query heads, where they are known, must be dealt out evenly, and KV heads too, or one copy of a
    head to each. A latent lies whole on every GPU. The arithmetic rounds down, and says so.
    """
    return can_share_kv(geometry, tp) and can_share_queries(geometry, tp)


def can_share_kv(geometry: Geometry, tp: int) -> bool:
    """Whether each GPU takes as many KV heads, or one copy of a head, or the latent."""
    heads = geometry.num_kv_heads
    return geometry.latent is not None or heads % tp == 0 or tp % heads == 0


def can_share_queries(geometry: Geometry, tp: int) -> bool:
    """Whether each GPU takes as many query heads; so it seems where these are not known."""
    return geometry.num_heads is None or geometry.num_heads % tp == 0
