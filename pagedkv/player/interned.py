"""A list in which equal items stand once."""

from pagedkv.player.json_text import Data, as_text


class Interned:
    """Items as JSON text, known by their place."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    @property
    def texts(self) -> list[str]:
        """Every item, in order of place."""
        return list(self._places)

    def place(self, item: Data) -> int:
        """Return the index of ``item``, adding it if it is new."""
        return self._places.setdefault(as_text(item), len(self._places))

    def copy(self) -> "Interned":
        """Another list that goes on from here by itself."""
        twin = Interned()
        twin._places = dict(self._places)
        return twin
