"""One attention weight worked out, line by line."""

from typing import Any

from pagedkv.player.roster import Roster
from pagedkv.player.text import figure, say
from pagedkv.trace.frame import WorkedScore

Data = dict[str, Any]


def worked_data(worked: WorkedScore | None, roster: Roster) -> Data | None:
    """Write one weight out, line by line, from the dot product to the kernel's own number."""
    if worked is None:
        return None
    score, weight = figure(worked.score), figure(worked.weight)
    scale, denominator = figure(worked.scale), figure(worked.denominator)
    high = figure(worked.max_score)
    return {
        "title": say(
            "worked",
            request=worked.request,
            query=worked.query_position,
            key=worked.key_position,
        ),
        "where": say(
            "worked_where",
            layer=worked.layer,
            head=worked.head,
            block=worked.block_id,
            offset=worked.offset,
        ),
        "slot": [worked.block_id, worked.offset],
        "lines": [
            say("worked_dot", dot=figure(worked.dot)),
            say("worked_score", dot=figure(worked.dot), scale=scale, score=score),
            say("worked_softmax", score=score, max=high, denominator=denominator, weight=weight),
            say("worked_kernel", kernel=figure(worked.kernel_weight)),
        ],
        "note": say("worked_v", count=worked.query_position + 1),
        "layer": worked.layer,
        "head": worked.head,
        "r": roster.index(worked.request),
    }
