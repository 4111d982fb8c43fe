"""The Python script does the same with the library."""

import pytest
from hypothesis import given
from sandbox_scripts import RELAXED, Play, scripts

import pagedkv.model
from pagedkv.model import CharGPT
from pagedkv.sandbox.as_python import to_python
from pagedkv.sandbox.script import Script
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
