"""``python -m pagedkv``: what it prints, what it refuses, and with which exit code."""

import json
import os
import signal
import subprocess
import sys

import pytest

from pagedkv.__main__ import COMMANDS, with_values_joined
from pagedkv.lessons import LESSONS

SLUGS = [lesson.slug for lesson in LESSONS]


def shell(command: str, project, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run ``command`` in a shell of its own; ``$PY`` is this Python."""
    return subprocess.run(
        ["bash", "-c", command],
        cwd=project,
        env={**os.environ, "PY": sys.executable, **environment},
        capture_output=True,
    )


def test_lessons_are_listed_a_line_each_in_order(run):
    code, out, err = run("lessons")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == SLUGS
    assert all(line.endswith("?") for line in out.splitlines())


def test_lessons_as_json(run):
    code, out, _ = run("lessons", "--json")
    listed = json.loads(out)
    assert code == 0
    assert [lesson["slug"] for lesson in listed] == SLUGS
    assert [lesson["figure"] for lesson in listed] == [1, 2, 3, 4, 5, 6, None]
    assert all(lesson["question"] and lesson["takeaway"] for lesson in listed)


def test_ctrl_c_ends_in_one_line(run, monkeypatch):
    monkeypatch.setitem(COMMANDS, "lessons", lambda options: signal.raise_signal(signal.SIGINT))
    assert run("lessons") == (130, "", "pagedkv: stopped\n")


def test_a_trace_is_readable_text_a_frame_at_a_time(run):
    code, out, err = run("trace", "growth")
    assert (code, err) == (0, "")
    assert out.startswith("Growth\n")
    assert "1 of 8: " in out and "8 of 8: " in out


def test_a_trace_as_json_has_the_settings_that_were_asked_for(run):
    code, out, _ = run(
        *("trace", "growth", "--json"),
        *("--block-size", "5", "--capacity", "30", "--prompt-length", "7", "--seed", "3"),
    )
    trace = json.loads(out)
    assert code == 0
    assert trace["lesson"] == "growth"
    assert trace["config"] == {
        "block_size": 5,
        "capacity": 30,
        "num_blocks": 6,
        "unusable_slots": 0,
        "prompt_length": 7,
        "seed": 3,
    }
    assert trace["frames"][0]["state"]["requests"][0]["name"] == "B"


def test_settings_left_out_are_the_defaults(run):
    config = json.loads(run("trace", "shared-prefix", "--json")[1])["config"]
    assert (config["block_size"], config["capacity"], config["prompt_length"]) == (4, 24, 6)


def test_json_is_one_line_without_nan(run):
    out = run("trace", "freeing", "--json")[1]
    assert out.count("\n") == 1
    json.loads(out, parse_constant=pytest.fail)


@pytest.mark.parametrize("slug", SLUGS)
def test_every_lesson_runs_where_the_pool_has_no_block_at_all(run, slug):
    code, out, err = run("trace", slug, "--block-size", "32", "--capacity", "4")
    assert (code, err) == (0, "")
    assert "Note: " in out


def test_an_unknown_lesson_is_answered_with_the_list_and_exit_code_2(run):
    code, out, err = run("trace", "grwoth")
    assert (code, out) == (2, "")
    assert "'grwoth'" in err
    assert all(slug in err for slug in SLUGS)
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("value", ["1_0", "１", "٣", "-1e3", "-inf", "-x", "-", "1e3", ""])
def test_a_number_that_is_none_is_refused_in_a_line(run, value):
    code, out, err = run("trace", "growth", "--seed", value)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("pagedkv: seed is ")


def test_what_stands_alone_is_joined_to_nothing(run):
    assert with_values_joined(
        ["-5", "--", "-5", "--a=1", "-5", "-5", "--b", "-h", "--c", "--d"]
    ) == (["-5", "--", "-5", "--a=1", "-5", "-5", "--b", "-h", "--c", "--d"])
    assert run("plan", "-h")[0] == 0


@pytest.mark.parametrize(
    ("option", "value", "range_"),
    [
        ("--block-size", "0", "1 to 32"),
        ("--block-size", "33", "1 to 32"),
        ("--capacity", "3", "4 to 256"),
        ("--capacity", "257", "4 to 256"),
        ("--prompt-length", "0", "1 to 64"),
        ("--prompt-length", "65", "1 to 64"),
        ("--seed", "-1", "0 to 2147483647"),
    ],
)
def test_a_number_out_of_range_names_the_range_with_exit_code_2(run, option, value, range_):
    code, out, err = run("trace", "growth", option, value)
    assert (code, out) == (2, "")
    assert range_ in err and value in err
    assert option.strip("-").replace("-", "_") in err
    assert "Traceback" not in err


@pytest.mark.parametrize("value", ["four", "4.5", "", "4,5", "0x10", "1e3"])
def test_text_in_place_of_a_number_names_the_range_with_exit_code_2(run, value):
    code, out, err = run("trace", "growth", "--capacity", value)
    assert (code, out) == (2, "")
    assert err == f"pagedkv: capacity is {value!r}; it must be a whole number from 4 to 256\n"


@pytest.mark.parametrize("arguments", [(), ("traces",), ("trace",), ("lessons", "--all")])
def test_an_unknown_or_missing_command_shows_the_usage_with_exit_code_2(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "usage: python -m pagedkv" in err


def test_help_explains_the_ranges(run):
    code, out, _ = run("trace", "--help")
    assert code == 0
    assert all(text in out for text in ("1 to 32", "4 to 256", "1 to 64"))


def test_a_refusal_from_outside_ends_with_exit_code_2_and_no_traceback(project):
    done = shell('"$PY" -m pagedkv trace nonsense --json', project)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"pagedkv: there is no lesson 'nonsense'")


@pytest.mark.parametrize(
    ("command", "variable", "value", "message"),
    [
        ("lessons", "PAGEDKV_BACKEND", "fast", "it must be one of auto, triton, torch"),
        ("trace growth", "PAGEDKV_DEVICE", "gpu", "it must be one of auto, cuda, cpu"),
        ("--help", "PAGEDKV_DEVICE", "cuda", "but torch finds no CUDA device; use 'auto'"),
    ],
)
def test_a_wish_that_cannot_be_granted_is_one_line_with_exit_code_2(
    project, command, variable, value, message
):
    environment = {variable: value, "CUDA_VISIBLE_DEVICES": ""}
    done = shell(f'"$PY" -m pagedkv {command}', project, **environment)
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"pagedkv: {variable} is '{value}'") and line.endswith(message)


def test_an_import_with_such_a_wish_raises_its_error(project):
    done = shell('"$PY" -c "import pagedkv"', project, PAGEDKV_BACKEND="fast")
    assert done.returncode == 1
    assert b"ValueError: PAGEDKV_BACKEND is 'fast'" in done.stderr


def test_a_reader_may_stop_reading(project):
    """A trace is larger than a pipe holds, so printing meets the closed end."""
    command = '"$PY" -m pagedkv trace scattered-attention --json | head -c 20'
    done = shell(f"{command}; exit ${{PIPESTATUS[0]}}", project)
    assert done.stdout.startswith(b'{"lesson": ')
    assert (done.returncode, done.stderr) == (0, b"")


def test_output_is_utf_8_whatever_the_terminal_says(project):
    done = shell('"$PY" -m pagedkv trace growth', project, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "L0→P3" in done.stdout.decode("utf-8")
