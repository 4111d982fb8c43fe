"""Pictures of a whole lesson and of a broken cache, for any page that holds Plotly.

Two of them: attention maps (kernel, dense reference, difference) and memory over frames. Each comes
as a figure, as one or two sentences for those who cannot see it, and as a table. They are pure
functions of a ``Trace``. A third puts right and faulty attention weights beside each other, from
plain arrays; a fourth counts blocks while answers are generated; four more show what simulations
of workloads came to, the paper's values beside them; three draw a plan for a real GPU. Nothing here
knows the engine, torch or Streamlit.
"""

from pagedkv.figures.alt_text import attention_alt, memory_alt
from pagedkv.figures.attention_data import PARTS, AttentionChoices, Part, attention_choices
from pagedkv.figures.attention_map import attention_figure
from pagedkv.figures.blocks_over_time import blocks_alt, blocks_figure, blocks_table
from pagedkv.figures.memory import memory_figure
from pagedkv.figures.plan_concurrency import (
    plan_concurrency_alt,
    plan_concurrency_figure,
    plan_concurrency_table,
)
from pagedkv.figures.plan_memory import plan_memory_alt, plan_memory_figure, plan_memory_table
from pagedkv.figures.plan_savings import plan_savings_alt, plan_savings_figure, plan_savings_table
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
    "plan_concurrency_alt",
    "plan_concurrency_figure",
    "plan_concurrency_table",
    "plan_memory_alt",
    "plan_memory_figure",
    "plan_memory_table",
    "plan_savings_alt",
    "plan_savings_figure",
    "plan_savings_table",
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
