"""Undo, redo, and going on from an earlier moment: a session with what was taken back."""

from dataclasses import dataclass, field, replace

from pagedkv.sandbox.actions import Action
from pagedkv.sandbox.script import Pool, Script


@dataclass(frozen=True, slots=True)
class Timeline:
    """``script`` is what is shown; ``undone`` can be done again, the last taken back first."""

    script: Script = field(default_factory=Script)
    undone: tuple[Action, ...] = ()

    @property
    def num_actions(self) -> int:
        """How many actions have been done; the frame after the last has this index."""
        return len(self.script.actions)

    def do(self, action: Action) -> "Timeline":
        """One action more; what was taken back is gone. Raises ``ScriptError`` if it cannot be."""
        return Timeline(self.script.then(action))

    def back_to(self, count: int) -> "Timeline":
        """As it was after ``count`` actions; those after it can be done again."""
        count = min(max(count, 0), self.num_actions)
        taken_back = self.script.actions[count:]
        return Timeline(self.script.first(count), (*self.undone, *reversed(taken_back)))

    def undo(self) -> "Timeline":
        """Without its last action."""
        return self.back_to(self.num_actions - 1)

    def redo(self) -> "Timeline":
        """With the action that was taken back last."""
        if not self.undone:
            return self
        return Timeline(self.script.then(self.undone[-1]), self.undone[:-1])

    def in_pool(self, pool: Pool) -> "Timeline":
        """The same actions in another pool."""
        return Timeline(replace(self.script, pool=pool), self.undone)
