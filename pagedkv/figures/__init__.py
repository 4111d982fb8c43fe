"""Pictures of a whole lesson, for ``st.plotly_chart`` or any page that holds Plotly.

Two of them: attention maps (kernel, dense reference, difference) and memory over frames. Each comes
as a figure, as one or two sentences for those who cannot see it, and as a table. All are pure
functions of a ``Trace``; nothing here knows the engine, torch or Streamlit.
"""

from pagedkv.figures.alt_text import attention_alt, memory_alt
from pagedkv.figures.attention_data import PARTS, AttentionChoices, Part, attention_choices
from pagedkv.figures.attention_map import attention_figure
from pagedkv.figures.memory import memory_figure
from pagedkv.figures.tables import attention_table, memory_table

__all__ = [
    "PARTS",
    "AttentionChoices",
    "Part",
    "attention_alt",
    "attention_choices",
    "attention_figure",
    "attention_table",
    "memory_alt",
    "memory_figure",
    "memory_table",
]
