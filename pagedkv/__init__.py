"""pagedkv: a real paged KV cache, small enough to read and honest enough to teach from.

The library half of the course. It never imports Streamlit; plotly lives in ``pagedkv.figures``
alone. Read in this order: ``layout``, ``block_pool``, ``block_manager``, ``cache``, ``execution``,
``engine``; then ``recorder`` for how a run becomes a trace, and one file of ``lessons``.
"""

# First of all: parts of torch import Triton on the way, and whether Triton interprets or compiles
# is settled at that moment. ``kernels`` has to have decided by then.
import kernels  # noqa: F401
from pagedkv.block_manager import BlockManager
from pagedkv.cache import CacheConfig, PagedKVCache
from pagedkv.refusals import OutOfBlocks

__all__ = ["BlockManager", "CacheConfig", "OutOfBlocks", "PagedKVCache"]
