"""Our values beside the paper's, with the difference and how sure the paper's are: a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:  # a table lists what was compared and knows nobody who compares
    from pagedkv.workloads.figure_data import ComparedRow


def compared_table(rows: Sequence["ComparedRow"]) -> pd.DataFrame:
    """List every value that both have; the difference is ours less the paper's."""
    return pd.DataFrame(
        {
            "of": row.what,
            "quantity": row.quantity,
            "ours": round(row.ours, 2),
            "paper": row.paper,
            "difference": round(row.difference, 2),
            "where": row.where,
            "paper's value": row.certainty,
        }
        for row in rows
    )
