"""Our values beside the paper's, with the difference and how sure the paper's are: a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:  # a table lists what was compared and knows nobody who compares
    from pagedkv.workloads.figure_data import ComparedRow


def compared_table(rows: Sequence["ComparedRow"], varied: str) -> pd.DataFrame:
    """List every value that both have; the difference is ours less the paper's.

    ``varied`` heads the first column: what tells the rows' simulations apart.
    """
    return pd.DataFrame(
        {
            varied: row.what,
            "quantity": row.quantity,
            "ours": round(row.ours, 2),
            "paper": row.paper,
            "difference": round(row.difference, 2),
            "where": row.where,
            "how sure": row.certainty,
        }
        for row in rows
    )
