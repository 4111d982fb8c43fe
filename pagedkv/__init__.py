"""pagedkv: a real paged KV cache, small enough to read and honest enough to teach from.

The library half of the course. It never imports Streamlit; plotly lives in ``pagedkv.figures``
alone. Read in this order: ``layout``, ``block_pool``, ``block_manager``, ``cache``, ``execution``,
``engine``; then ``recorder`` for how a run becomes a trace, and one file of ``lessons``.
"""

import sys

# First of all: parts of torch import Triton on the way, and whether Triton interprets or compiles
# is settled at that moment. ``kernels`` has to have decided by then.
try:
    import kernels  # noqa: F401
except (ValueError, RuntimeError) as error:  # PAGEDKV_DEVICE or PAGEDKV_BACKEND asks in vain
    # ``python -m pagedkv`` comes by here before ``__main__`` runs, and Python says "-m" until then.
    # Whoever typed a command gets a sentence and an exit code; whoever imports gets the error.
    if sys.argv[:1] != ["-m"]:
        raise
    print(f"pagedkv: {error}", file=sys.stderr)
    sys.exit(2)

from pagedkv.block_manager import BlockManager
from pagedkv.cache import CacheConfig, PagedKVCache
from pagedkv.refusals import OutOfBlocks

__all__ = ["BlockManager", "CacheConfig", "OutOfBlocks", "PagedKVCache"]
