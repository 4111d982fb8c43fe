"""From a script to a run of it: go on from the longest beginning that is still at hand.

An action more is then one action's work, an undone one none, and a branch no more than what is new
in it. On a long way a run is left at hand every few actions, so that undo after opening somebody's
link has not far to go either. Runs at hand never change; whoever goes on from one takes a copy.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pagedkv.language_model import LanguageModel
from pagedkv.player.view import GrowingView
from pagedkv.recorder import OnProgress
from pagedkv.sandbox.actions import Action
from pagedkv.sandbox.as_python import to_python
from pagedkv.sandbox.script import Pool, Script
from pagedkv.sandbox.session import Session
from pagedkv.sandbox.words import BOOK

ACTIONS_BETWEEN = 10  # copying a run takes a tenth of the time of an action

Beginning = tuple[Pool, tuple[Action, ...]]  # a script, without being checked again for each prefix


@dataclass(frozen=True, slots=True, eq=False)
class SandboxRun:
    """A session that nobody changes any more, its view, and what a page shows of both: the player's
    JSON, and the Python script that does the same.
    """

    session: Session
    view: GrowingView
    player_json: str
    python: str

    @property
    def num_frames(self) -> int:
        """One for the beginning and one for each action."""
        return len(self.session.recorder.frames)


@dataclass(frozen=True, slots=True)
class AtHand:
    """Runs by what was done in them; any may have been given up meanwhile."""

    find: Callable[[Beginning], SandboxRun | None]
    keep: Callable[[Beginning, SandboxRun], None]


def beginning_of(script: Script) -> Beginning:
    """What a run of the script is known by."""
    return script.pool, script.actions


def replay(
    whole: Beginning, model: LanguageModel, at_hand: AtHand, on_progress: OnProgress
) -> SandboxRun:
    """The run in which all of ``whole`` was done.

    ``on_progress(frames so far, title of the last)`` is called after each action that had to be
    done; an exception from it stops the work and passes through. What was done until then is at
    hand up to the last stop.
    """
    pool, actions = whole
    num_done, run = _longest_beginning(whole, at_hand)
    if run is None:
        session = Session(pool, model)
        run = _run_of(Script(pool), session, GrowingView(BOOK, session.trace()))
    for stop in _stops(num_done, len(actions)):
        run = _go_on(run, Script(pool, actions[:stop]), on_progress)
        at_hand.keep((pool, actions[:stop]), run)
    return run


def _longest_beginning(whole: Beginning, at_hand: AtHand) -> tuple[int, SandboxRun | None]:
    """How many of the actions are done already, and a run in which they are."""
    pool, actions = whole
    for num_done in range(len(actions), -1, -1):
        run = at_hand.find((pool, actions[:num_done]))
        if run is not None:
            return num_done, run
    return 0, None


def _stops(num_done: int, num_actions: int) -> Iterator[int]:
    """After how many actions a run is left at hand: every few, and after all."""
    first = num_done - num_done % ACTIONS_BETWEEN + ACTIONS_BETWEEN
    yield from range(first, num_actions, ACTIONS_BETWEEN)
    if num_done < num_actions:
        yield num_actions


def _go_on(run: SandboxRun, script: Script, on_progress: OnProgress) -> SandboxRun:
    """Do what the script has more than the run."""
    session = run.session.copy()
    for action in script.actions[run.num_frames - 1 :]:
        session.do(action)
        on_progress(len(session.recorder.frames), session.recorder.frames[-1].title)
    return _run_of(script, session, run.view.copy())


def _run_of(script: Script, session: Session, view: GrowingView) -> SandboxRun:
    trace = session.trace()
    return SandboxRun(session, view, view.text(trace), to_python(script, trace))
