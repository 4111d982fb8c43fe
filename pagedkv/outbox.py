"""Events on their way out: held back until the command that caused them is done in every part.

A command of the engine goes through three parts: the manager changes its tables, the cache copies
or counts, the engine keeps texts and logits. Each announces what it did; were that heard at once, a
listener would find the others still at the state before. So a part hands ``put`` to the part below
as its listener, and lets go of what came when its own command ends.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from pagedkv.events import Event, Listener
from pagedkv.refusals import OutOfBlocks


class Outbox:
    """Passes events on to ``listener``: at once, or within ``until_done`` at its end."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._held: list[Event] | None = None  # None between commands

    def put(self, event: Event) -> None:
        """Announce an event. Raises what the listener raises."""
        if self._held is None:
            self._listener(event)
        else:
            self._held.append(event)

    @contextmanager
    def until_done(self) -> Iterator[None]:
        """Hold events back while a command runs; then pass them on in order.

        So too where the command ends in a refusal, which is an event itself. If it fails in any
        other way, nobody hears of it. If the listener raises the command stands, and the events
        behind go unheard.
        """
        self._held = []
        try:
            yield
        except BaseException as error:
            if not isinstance(error, OutOfBlocks):
                self._held.clear()
            raise
        finally:
            held, self._held = self._held, None
            for event in held:
                self._listener(event)
