"""The same script is the same session, and every beginning of it is what undo shows."""

import pytest
from hypothesis import given
from sandbox_scripts import RELAXED, Play, scripts

from pagedkv.model import CharGPT
from pagedkv.sandbox.actions import EngineStep, Fork, NewRequest
from pagedkv.sandbox.as_file import read_file, to_file
from pagedkv.sandbox.as_link import read_link, to_link
from pagedkv.sandbox.replay import (
    ACTIONS_BETWEEN,
    AtHand,
    Beginning,
    SandboxRun,
    beginning_of,
    replay,
)
from pagedkv.sandbox.script import Script
from pagedkv.sandbox.session import Session
from pagedkv.sandbox.timeline import Timeline
from pagedkv.trace.as_json import to_plain

ACTIONS = (NewRequest("ROMEO:"), Fork(1), EngineStep(), EngineStep())


class Replayer:
    """Keeps the last ``most`` runs at hand, as the page's store does."""

    def __init__(self, model: CharGPT, most: int) -> None:
        self.model, self.most = model, most
        self.runs: dict[Beginning, SandboxRun] = {}
        self.done: list[int] = []  # frames after each action that was done

    def keep(self, beginning: Beginning, run: SandboxRun) -> None:
        self.runs.pop(beginning, None)
        self.runs[beginning] = run
        while len(self.runs) > self.most:
            del self.runs[next(iter(self.runs))]

    def session_after(self, script: Script) -> Session:
        at_hand = AtHand(self.runs.get, self.keep)
        run = replay(beginning_of(script), self.model, at_hand, self.note)
        return run.session

    def note(self, frames: int, title: str) -> None:
        self.done.append(frames)


def plain(session: Session) -> list[object]:
    return [to_plain(frame) for frame in session.recorder.frames]


@RELAXED
@given(scripts())
def test_link_and_file_lead_to_the_same_frames(play: Play, script: Script):
    once = plain(play(script))
    assert plain(play(read_link(to_link(script)))) == once
    assert plain(play(read_file(to_file(script).encode()))) == once


@RELAXED
@given(scripts(most=20))
def test_every_beginning_is_what_undo_shows(play: Play, small_model: CharGPT, script: Script):
    whole = plain(play(script))
    replayer = Replayer(small_model, most=3)
    timeline = Timeline(script)
    for count in range(len(script.actions), -1, -1):
        shown = replayer.session_after(timeline.script)
        assert plain(shown) == whole[: count + 1]
        timeline = timeline.undo()
    for count in range(len(script.actions) + 1):
        assert timeline.num_actions == count
        timeline = timeline.redo()
    assert timeline.script == script


def test_going_on_leaves_what_is_at_hand_as_it_was(small_model: CharGPT):
    replayer = Replayer(small_model, most=4)
    before = replayer.session_after(Script(actions=ACTIONS[:2]))
    frames, tables = plain(before), before.recorder.state()
    one = replayer.session_after(Script(actions=ACTIONS))
    other = replayer.session_after(Script(actions=(*ACTIONS[:2], Fork(2))))
    assert replayer.session_after(Script(actions=ACTIONS[:2])) is before
    assert (plain(before), before.recorder.state()) == (frames, tables)
    assert one.running == ("R1", "R2") and other.running == ("R1", "R2", "R3")


def test_only_what_is_new_is_done(small_model: CharGPT):
    replayer = Replayer(small_model, most=4)
    for count in (2, 4, 3, 4):
        replayer.session_after(Script(actions=ACTIONS[:count]))
    assert replayer.done == [2, 3, 4, 5, 4]  # the third was not at hand


def test_undo_after_a_long_way_goes_back_a_few_actions_only(small_model: CharGPT):
    replayer = Replayer(small_model, most=99)
    long = Script(actions=(EngineStep(),) * (3 * ACTIONS_BETWEEN + 5))
    replayer.session_after(long)
    for count in (len(long.actions) - 1, 2 * ACTIONS_BETWEEN + 1, ACTIONS_BETWEEN):
        replayer.done.clear()
        shown = replayer.session_after(long.first(count))
        assert len(shown.recorder.frames) == count + 1
        assert len(replayer.done) == count % ACTIONS_BETWEEN


def test_whoever_stops_it_is_heard(small_model: CharGPT):
    def stop(frames: int, title: str) -> None:
        raise InterruptedError(title)

    nothing = AtHand(lambda beginning: None, lambda beginning, run: None)
    with pytest.raises(InterruptedError, match="R1 comes in"):
        replay(beginning_of(Script(actions=ACTIONS)), small_model, nothing, stop)


def test_a_branch_keeps_what_came_after_until_something_else_is_done():
    timeline = Timeline(Script(actions=ACTIONS)).back_to(1)
    assert timeline.script.actions == ACTIONS[:1]
    assert timeline.redo().redo().redo().script.actions == ACTIONS
    assert timeline.do(EngineStep()).undone == ()
    assert Timeline().undo() == Timeline() == Timeline().redo()
