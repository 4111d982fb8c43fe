"""What a frame's marks are about: the events that happened before the learner's eyes."""

from pagedkv.events import Event
from pagedkv.trace.frame import Frame


def news(frame: Frame) -> tuple[Event, ...]:
    """Return what the frame changed: nothing in a lesson's first, which shows where it starts."""
    return frame.events if frame.index else ()
