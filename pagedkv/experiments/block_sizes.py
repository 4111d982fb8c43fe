"""Experiment: store the same context in blocks of 1, 2, 4, 8 and 16. Does the answer change?

A block size decides how many blocks there are and where they lie, and nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pagedkv.cache import Attended
from pagedkv.engine import Engine
from pagedkv.experiments.judging import Weights, as_array, largest_difference
from pagedkv.experiments.scene import Pools, attend, model_with, scattered
from pagedkv.layout import blocks_needed, empty_slots
from pagedkv.model.gpt import CharGPT
from pagedkv.model.prompts import PASSAGE_B, prompt
from pagedkv.settings import check_setting
from pagedkv.trace.errors import agree, worst

SIZES = (1, 2, 4, 8, 16)
LENGTH = 21  # positions: at every size but 1 the last block has unused slots
SPARE_BLOCKS = 3


@dataclass(frozen=True, slots=True, eq=False)
class AtBlockSize:
    """The context at one block size, and its last position's attention.

    ``table`` holds physical block ids by logical block, ``num_unused`` counts the slots of its last
    block that hold nothing. ``weights`` [num_heads, context_len] float32, straight from the kernel.
    """

    block_size: int
    num_blocks: int
    table: tuple[int, ...]
    num_unused: int
    weights: Weights
    difference_to_dense: float
    difference_to_first: float


@dataclass(frozen=True, slots=True, eq=False)
class BlockSizesResult:
    """The same ``text``, one position a character, at several block sizes, in the order given."""

    text: str
    layer: int
    sizes: tuple[AtBlockSize, ...]

    @property
    def difference_to_dense(self) -> float:
        """The worst of all sizes."""
        return worst(size.difference_to_dense for size in self.sizes)

    @property
    def difference_to_first(self) -> float:
        """The worst of all sizes."""
        return worst(size.difference_to_first for size in self.sizes)

    @property
    def dense_agrees(self) -> bool:
        """Whether the dense reference has nothing to object to at any size."""
        return agree([self.difference_to_dense])


def run_block_sizes(
    sizes: Sequence[int] = SIZES, layer: int = 0, model: CharGPT | None = None
) -> BlockSizesResult:
    """Run the same characters through the model on a new pool for each size, and attend.

    Raises ``SettingsError`` for a size outside 1 to 32, ValueError for no size at all or a layer
    that the model lacks. Without ``model`` the committed weights are loaded.
    """
    if not sizes:
        raise ValueError("sizes must name at least one block size")
    for block_size in sizes:
        check_setting("block_size", block_size)
    model = model_with(layer, model)
    text = prompt(PASSAGE_B, LENGTH)
    first: Attended | None = None
    results = []
    for block_size in sizes:
        engine = _stored(text, block_size, model)
        attended = _attended(engine, layer)
        first = first or attended
        results.append(_compared(engine, layer, attended, first))
    return BlockSizesResult(text, layer, tuple(results))


def _stored(text: str, block_size: int, model: CharGPT) -> Engine:
    """An engine that has stored ``text`` in blocks that lie apart."""
    num_blocks = blocks_needed(len(text), block_size) + SPARE_BLOCKS
    engine = Engine(
        model,
        block_size=block_size,
        num_blocks=num_blocks,
        free_order=scattered(num_blocks),
    )
    engine.admit("B", text)
    engine.execute("B")
    return engine


def _attended(engine: Engine, layer: int) -> Attended:
    """Let the decode kernel attend with the last position's query, over all that is stored."""
    cache = engine.cache
    pools = Pools(cache.k_cache[layer], cache.v_cache[layer])
    query = engine.last_attention("B", layer).query
    return attend(query, pools, cache.block_table("B"), cache.num_stored("B"))


def _compared(engine: Engine, layer: int, attended: Attended, first: Attended) -> AtBlockSize:
    cache = engine.cache
    record = engine.last_attention("B", layer)
    return AtBlockSize(
        block_size=cache.block_size,
        num_blocks=len(cache.block_table("B")),
        table=cache.block_table("B"),
        num_unused=empty_slots(cache.num_stored("B"), cache.block_size),
        weights=as_array(attended.weights),
        difference_to_dense=largest_difference(attended, record.dense),
        difference_to_first=largest_difference(attended, first),
    )
