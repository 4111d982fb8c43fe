"""Finding one's way in a trace's JSON: frames by what happened in them, never by their words.

Captions and titles are free to change; events, checks and states are what a lesson shows.
"""

from typing import Any

Json = dict[str, Any]


def events(frame: Json, kind: str, **fields: Any) -> list[Json]:
    """The frame's events of this kind whose fields have these values."""
    return [
        event
        for event in frame["events"]
        if event["type"] == kind and all(event[name] == value for name, value in fields.items())
    ]


def frame_with(trace: Json, kind: str, **fields: Any) -> Json:
    """The first frame in which such an event happened."""
    return next(frame for frame in trace["frames"] if events(frame, kind, **fields))


def event_of(trace: Json, kind: str, **fields: Any) -> Json:
    """The only event of this kind with these values in the whole lesson."""
    (event,) = (e for frame in trace["frames"] for e in events(frame, kind, **fields))
    return event


def frame_before(trace: Json, frame: Json) -> Json:
    """The frame that the player shows before this one."""
    before: Json = trace["frames"][frame["index"] - 1]
    return before


def checks(trace: Json, name: str) -> list[Json]:
    """The frames in which the engine asks whether ``name`` fits, in order."""
    return [f for f in trace["frames"] if f["check"] and f["check"]["request"] == name]


def what_if_frame(trace: Json) -> Json:
    """The one frame with a supposition."""
    (frame,) = (frame for frame in trace["frames"] if frame["what_if"])
    return frame


def request(frame: Json, name: str) -> Json:
    """A request of the frame's state."""
    return next(r for r in frame["state"]["requests"] if r["name"] == name)


def names(frame: Json) -> list[str]:
    """Who is being served in this frame."""
    return [request["name"] for request in frame["state"]["requests"]]


def slot(frame: Json, block_id: int, offset: int) -> Json:
    """One slot of the pool."""
    found: Json = frame["state"]["blocks"][block_id]["slots"][offset]
    return found


def ref_counts(frame: Json) -> list[int]:
    """The ref counts of all blocks, by block id."""
    return [block["ref_count"] for block in frame["state"]["blocks"]]


def last_attention(frame: Json, name: str) -> list[Json]:
    """The views of a request's latest query in this frame, one per layer."""
    views = [view for view in frame["attention"] if view["request"] == name]
    latest = max(view["query_position"] for view in views)
    return [view for view in views if view["query_position"] == latest]


def words(trace: Json) -> str:
    """All captions and suppositions of a lesson, in lower case."""
    texts = [f["caption"] for f in trace["frames"]]
    texts += [f["what_if"]["text"] for f in trace["frames"] if f["what_if"]]
    return " ".join(texts).lower()


def says_that_the_order_was_set(trace: Json) -> bool:
    """Whether one caption and no other owns up that the free list's mixed order was not earned."""
    return words(trace).count("we chose which blocks are free first") == 1
