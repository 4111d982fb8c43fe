"""The Python script does the same with the library."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from sandbox_scripts import RELAXED, Play, scripts

import pagedkv.model
from pagedkv.model import CharGPT
from pagedkv.sandbox.actions import DecodeToken, EngineStep, Finish, Fork, NewRequest
from pagedkv.sandbox.as_python import to_python
from pagedkv.sandbox.script import Pool, Script
from pagedkv.sandbox.session import Session
from pagedkv.sandbox.starts import STARTS


def run(source: str, model: CharGPT) -> dict[str, object]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pagedkv.model, "load_model", lambda device: model)
        names: dict[str, object] = {}
        exec(compile(source, "session.py", "exec"), names)
    return names


def states(engine) -> object:
    return (
        engine.cache.free_blocks,
        [
            (name, engine.text(name), engine.pending_token(name), engine.cache.block_table(name))
            for name in engine.requests
        ],
    )


@RELAXED
@given(scripts())
def test_it_ends_in_the_same_state(play: Play, small_model: CharGPT, script: Script):
    session = play(script)
    engine = run(to_python(script, session.trace()), small_model)["engine"]
    assert states(engine) == states(session.recorder.engine)


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.title)
def test_the_ready_made_sessions_too(play: Play, small_model: CharGPT, start, capsys):
    session = play(start.script)
    engine = run(to_python(start.script, session.trace()), small_model)["engine"]
    assert states(engine) == states(session.recorder.engine)
    printed = capsys.readouterr().out
    assert all(name in printed for name in session.running)


# Copies, typed tokens, a line break, refusals of several kinds, and one who waits to the end.
EVERYTHING = Script(
    Pool(3, 36, "scattered"),
    (
        NewRequest("ROMEO:\nBut"),
        Fork(1),
        DecodeToken(2, "\n"),
        NewRequest("To be, or 'tis not"),
        NewRequest("a" * 7),
        EngineStep(),
        DecodeToken(3),
        Fork(2),
        EngineStep(),
        EngineStep(),
        Finish(1),
        EngineStep(),
        EngineStep(),
        DecodeToken(3, "'"),
    ),
)


def test_it_runs_by_itself_with_the_courses_model(project: Path, tmp_path: Path):
    """In a Python of its own, as whoever copies it would run it."""
    session = Session(EVERYTHING.pool, pagedkv.model.load_model("cpu"))
    for action in EVERYTHING.actions:
        session.do(action)
    script = tmp_path / "session.py"
    script.write_text(to_python(EVERYTHING, session.trace()), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", f"import runpy; runpy.run_path({str(script)!r})"],
        cwd=project,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    engine = session.recorder.engine
    assert engine.requests == ("R2", "R3", "R5") and session.waiting == ("R4",)
    assert done.stdout.splitlines() == [
        f"{name} {engine.text(name)!r} {engine.cache.block_table(name)}" for name in engine.requests
    ]
