"""Look-ups: where each stored position lies, and if what is there equals the dense copy."""

from collections.abc import Sequence
from typing import Any

from pagedkv.player.roster import Roster
from pagedkv.trace.frame import LookupView
from pagedkv.trace.written import small

Data = dict[str, Any]


def lookup_data(lookups: Sequence[LookupView] | None, roster: Roster) -> list[Data] | None:
    """Describe where each stored position lies; the browser writes the arithmetic of one."""
    if lookups is None:
        return None
    return [
        {
            "r": roster.index(entry.request),
            "position": entry.position,
            "logical": entry.logical_block,
            "offset": entry.offset,
            "block": entry.block_id,
            "flat": entry.flat_slot,
            "k": small(entry.max_abs_error_k),
            "v": small(entry.max_abs_error_v),
            "same": entry.max_abs_error_k == 0 and entry.max_abs_error_v == 0,
        }
        for entry in lookups
    ]
