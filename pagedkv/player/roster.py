"""Who takes part in a lesson: request names in order of appearance, each with its colour index.

The browser gets small numbers instead of names; a request keeps its number, hence its colour and
pattern, from the first frame to the last.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pagedkv.trace.participants import colour_number


@dataclass(frozen=True, slots=True)
class Roster:
    """The names of a lesson's requests; a request's index is its place in ``names``."""

    names: tuple[str, ...]

    def index(self, name: str) -> int:
        """Return the request's number; ``ValueError`` if the lesson never mentions it."""
        return self.names.index(name)

    def indices(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of several requests, in the order given."""
        return [self.index(name) for name in names]

    def as_data(self) -> list[dict[str, object]]:
        """Return name and colour of each request, as the browser gets them."""
        return [{"name": name, "colour": colour_number(self.names, name)} for name in self.names]
