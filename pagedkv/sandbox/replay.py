"""From a script to a session: go on from the longest beginning that is still at hand.

An action more is then one action's work, an undone one none, and a branch no more than what is new
in it. Sessions at hand are never changed; whoever goes on from one takes a copy.
"""

from collections import OrderedDict

from pagedkv.checks import require_whole_number
from pagedkv.language_model import LanguageModel
from pagedkv.recorder import OnProgress
from pagedkv.sandbox.actions import Action
from pagedkv.sandbox.script import Pool, Script
from pagedkv.sandbox.session import Session


class Replayer:
    """Keeps the last ``max_sessions`` sessions at hand. Not for several threads at once."""

    def __init__(self, model: LanguageModel, max_sessions: int) -> None:
        require_whole_number("max_sessions", max_sessions, least=1)
        self._model = model
        self._max_sessions = max_sessions
        self._at_hand: OrderedDict[tuple[Pool, tuple[Action, ...]], Session] = OrderedDict()

    def session_after(self, script: Script, on_progress: OnProgress) -> Session:
        """The session that the script describes; it must not be changed.

        ``on_progress(frames so far, title of the last)`` is called after each action that had to be
        done; an exception from it stops the work and passes through.
        """
        num_done, session = self._longest_beginning(script)
        for action in script.actions[num_done:]:
            session.do(action)
            on_progress(len(session.recorder.frames), session.recorder.frames[-1].title)
        self._keep(script, session)
        return session

    def _longest_beginning(self, script: Script) -> tuple[int, Session]:
        """How many of the actions are done already, and a session in which they are."""
        for num_done in range(len(script.actions), -1, -1):
            found = self._at_hand.get((script.pool, script.actions[:num_done]))
            if found is not None:
                return num_done, found if num_done == len(script.actions) else found.copy()
        return 0, Session(script.pool, self._model)

    def _keep(self, script: Script, session: Session) -> None:
        key = (script.pool, script.actions)
        self._at_hand[key] = session
        self._at_hand.move_to_end(key)
        while len(self._at_hand) > self._max_sessions:
            self._at_hand.popitem(last=False)
