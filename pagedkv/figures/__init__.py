"""Pictures of a whole lesson and of a broken cache, for any page that holds Plotly.

Two of them: attention maps (kernel, dense reference, difference) and memory over frames. Each comes
as a figure, as one or two sentences for those who cannot see it, and as a table. They are pure
functions of a ``Trace``. A third puts right and faulty attention weights beside each other, from
plain arrays; a fourth counts blocks while answers are generated; four more show what simulations
of workloads came to, the paper's values beside them. Nothing here knows the engine, torch or
Streamlit.
"""

from pagedkv.figures.alt_text import attention_alt, memory_alt
from pagedkv.figures.attention_data import PARTS, AttentionChoices, Part, attention_choices
from pagedkv.figures.attention_map import attention_figure
from pagedkv.figures.blocks_over_time import blocks_alt, blocks_figure, blocks_table
from pagedkv.figures.memory import memory_figure
from pagedkv.figures.tables import attention_table, memory_table
from pagedkv.figures.weights_beside import weights_beside_alt, weights_beside_figure
from pagedkv.figures.workload_batches import batches_alt, batches_figure, batches_table
from pagedkv.figures.workload_compared import compared_table
from pagedkv.figures.workload_savings import savings_alt, savings_figure, savings_table
from pagedkv.figures.workload_shares import shares_alt, shares_figure, shares_table
from pagedkv.figures.workload_sizes import sizes_alt, sizes_figure, sizes_table

__all__ = [
    "PARTS",
    "AttentionChoices",
    "Part",
    "attention_alt",
    "attention_choices",
    "attention_figure",
    "attention_table",
    "batches_alt",
    "batches_figure",
    "batches_table",
    "blocks_alt",
    "blocks_figure",
    "blocks_table",
    "compared_table",
    "memory_alt",
    "memory_figure",
    "memory_table",
    "savings_alt",
    "savings_figure",
    "savings_table",
    "shares_alt",
    "shares_figure",
    "shares_table",
    "sizes_alt",
    "sizes_figure",
    "sizes_table",
    "weights_beside_alt",
    "weights_beside_figure",
]
