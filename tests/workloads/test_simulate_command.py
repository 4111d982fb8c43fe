"""``python -m pagedkv simulate``: what it prints, and what it refuses."""

import json
import re
from io import StringIO
from pathlib import Path

import pytest

from pagedkv.workloads import POLICIES

KEYS = [
    "policy",
    "token_pct",
    "reserved_pct",
    "internal_pct",
    "external_pct",
    "mean_batch",
    "finished",
    "preemptions",
    "turned_away",
    "iterations",
    "measured",
    "measured_from",
    "idle",
    "saved_pct",
]
SMALL = ("simulate", "--requests", "60")


def figures(run, *arguments: str) -> dict[str, dict]:
    code, out, err = run(*SMALL, "--json", *arguments)
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    printed = json.loads(out, parse_constant=pytest.fail)
    assert list(printed) == ["workload", "policies"]
    return {policy["policy"]: policy for policy in printed["policies"]}


@pytest.fixture
def trace(tmp_path: Path):
    def write(text: str) -> str:
        (tmp_path / "trace.csv").write_text(text)
        return str(tmp_path / "trace.csv")

    return write


def test_json_has_four_policies_with_these_keys_and_nothing_else(run) -> None:
    found = figures(run)
    assert list(found) == list(POLICIES) == ["max", "pow2", "oracle", "paged"]
    for policy in found.values():
        assert list(policy) == KEYS
        parts = [policy[key] for key in KEYS[1:5]]
        assert sum(parts) == pytest.approx(100, abs=0.01)
        assert (policy["finished"], policy["turned_away"]) == (60, 0)
    assert found["paged"]["mean_batch"] > found["oracle"]["mean_batch"] > 0


def test_json_says_of_what_and_over_which_iterations_the_means_are(run, trace) -> None:
    made = json.loads(run(*SMALL, "--json", "--policy", "max")[1])
    assert list(made["workload"]) == ["name", "requests", "mean_input", "mean_output"]
    assert (made["workload"]["name"], made["workload"]["requests"]) == ("ShareGPT-like", 60)
    (policy,) = made["policies"]
    assert policy["measured_from"] == 500 and policy["idle"] == 0
    assert 0 < policy["measured"] < policy["iterations"] - 500
    file = trace("arrival,input,output\n0,5,3\n2,0,5\n9,6,3\n10,5,3\n")
    asked = ("--skip-bad-rows", "--json", "--policy", "paged", "--requests", "2")
    read = json.loads(run("simulate", "--workload", file, *asked)[1])
    assert read["workload"] == {
        "name": "trace.csv",
        "requests": 2,
        "mean_input": 5.5,
        "mean_output": 3,
        "format": "plain CSV",
        "rows_left_out": 1,
    }
    (policy,) = read["policies"]
    spans = {key: policy[key] for key in ("iterations", "measured", "measured_from", "idle")}
    assert spans == {"iterations": 203, "measured": 6, "measured_from": 0, "idle": 197}


def test_policies_come_in_the_order_that_was_asked_for(run) -> None:
    assert list(figures(run, "--policy", "paged,max")) == ["paged", "max"]


def test_options_change_what_they_name(run) -> None:
    before = figures(run)
    for arguments, policy in (
        (("--block-size", "256"), "paged"),
        (("--slots", "4096"), "max"),
        (("--answers", "3"), "paged"),
        (("--seed", "1"), "oracle"),
        (("--workload", "alpaca"), "oracle"),
        (("--rate", "0.1"), "paged"),
    ):
        after = figures(run, *arguments)
        assert after[policy] != before[policy], arguments


def test_the_same_seed_prints_the_same(run) -> None:
    assert figures(run, "--seed", "5") == figures(run, "--seed", "5")


def test_without_json_it_is_a_table_with_a_line_for_each_policy(run) -> None:
    code, out, err = run(*SMALL)
    assert (code, err) == (0, "")
    assert out.startswith("ShareGPT-like: 60 requests, ")
    lines = [line.split()[0] for line in out.splitlines() if line]
    assert [line for line in lines if line in POLICIES] == list(POLICIES)
    assert "mean batch" in out and "preempted" in out


def test_a_file_is_simulated_and_its_format_shown(run, trace) -> None:
    file = trace("arrival,input,output\n0,10,5\n2,20,5\n")
    code, out, _ = run("simulate", "--workload", file)
    assert code == 0
    assert "trace.csv: 2 requests, 15.00 tokens in, 5.00 out" in out
    assert "read as plain CSV: arrival, input, output" in out
    printed = json.loads(run("simulate", "--workload", file, "--json")[1])
    assert [policy["finished"] for policy in printed["policies"]] == [2, 2, 2, 2]


def test_bad_rows_of_a_file_are_left_out_on_request(run, trace) -> None:
    file = trace("arrival,input,output\n0,10,5\n2,0,5\n")
    code, out, err = run("simulate", "--workload", file)
    assert (code, out) == (2, "")
    assert "line 3: input is '0'" in err and "--skip-bad-rows leaves them out" in err
    code, out, _ = run("simulate", "--workload", file, "--skip-bad-rows")
    assert code == 0
    assert "1 row left out, the first being line 3" in out


def test_requests_longer_than_opts_maximum_make_the_maximum_longer(run, trace) -> None:
    file = trace("arrival,input,output\n0,3000,5\n")
    out = run("simulate", "--workload", file, "--json", "--policy", "max")[1]
    assert json.loads(out)["policies"][0]["finished"] == 1
    out = run("simulate", "--workload", file, "--policy", "max", "--max-len", "2048")[1]
    assert "max: nobody ever ran. 1 request would never fit and was turned away." in out
    out = run("simulate", "--workload", file, "--json", "--max-len", "2048")[1]
    for policy in json.loads(out)["policies"]:
        assert (policy["finished"], policy["turned_away"]) == (0, 1)


def test_the_longest_request_of_a_file_is_simulated(run, trace) -> None:
    file = trace("arrival,input,output\n0,10000000,10000000\n")
    memory = ("--slots", "21000000", "--block-size", "4096")
    code, out, _ = run("simulate", "--workload", file, "--json", *memory)
    assert code == 0
    found = {policy["policy"]: policy["finished"] for policy in json.loads(out)["policies"]}
    assert found == {"max": 0, "pow2": 0, "oracle": 0, "paged": 1}  # the others' chunk is 2^25


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--policy", "lru"), "policy is 'lru'; it must be max, pow2, oracle or paged"),
        (("--policy", ""), "policy is ''"),
        (("--policy", "max,paged,max"), "policy names max 2 times"),
        (("--requests", "0"), "requests is 0; it must be a whole number from 1 to 1,000,000"),
        (("--requests", "9" * 5000), "requests is inf"),
        (("--block-size", "-1"), "block_size is -1"),
        (("--block-size", "1.5"), "block_size is 1.5"),
        (("--block-size", "32", "--slots", "16"), "with 16 slots it must be at most that"),
        (("--slots", "1"), "block_size is 16; with 1 slot it must be at most that"),
        (("--slots", "nan"), "slots is nan"),
        (("--slots", "1000000000000"), "slots is 1000000000000"),
        (("--answers", "many"), "answers is 'many'"),
        (("--answers", "0"), "answers is 0"),
        (("--seed", "-1"), "seed is -1"),
        (("--max-len", "1"), "max_length is 1"),
        (("--requests", "1_0"), "requests is '1_0'; it must be a whole number"),
        (("--slots", "１"), "slots is '１'; it must be a whole number"),
        (("--iteration-ms", "1_0"), "iteration_ms is '1_0'; it must be a number"),
        (("--rate", "１"), "rate is '１'; it must be a number"),
        (("--skip-bad-rows",), "skip-bad-rows is for files; sharegpt has no bad rows"),
        (("--rate", "inf"), "rate is inf; it must be a number from 0.001 to 10,000"),
        (("--iteration-ms", "0"), "iteration_ms is 0; it must be a number from 0.01 to 100,000"),
        (("--iteration-ms", "20"), "iteration-ms needs rate"),
        (("--workload", "nowhere.csv"), "workload is 'nowhere.csv'; it must be sharegpt, alpaca"),
        (("--workload", "."), "directory"),
        (("--workload", "a\0b"), "workload is 'a\\x00b'"),
        (("--workload", "x" * 5000), "workload is 'xxx"),
    ],
)
def test_bad_input_is_one_line_with_exit_code_2(run, arguments, words) -> None:
    code, out, err = run("simulate", *arguments)
    assert (code, out) == (2, "")
    assert words.lower() in err.lower()
    assert err.startswith("pagedkv: ") and len(err.splitlines()) == 1 and len(err) < 300


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "arrival,input,output\n"])
def test_a_file_that_is_no_trace_is_refused_by_name(run, trace, text) -> None:
    code, out, err = run("simulate", "--workload", trace(text))
    assert (code, out) == (2, "")
    assert err.startswith("pagedkv: 'trace.csv': the ") and len(err.splitlines()) == 1


def test_a_rate_is_not_for_files(run, trace) -> None:
    file = trace("arrival,input,output\n0,10,5\n")
    assert "brings its own arrivals" in run("simulate", "--workload", file, "--rate", "2")[2]


def test_a_seed_is_not_for_files(run, trace) -> None:
    file = trace("arrival,input,output\n0,10,5\n")
    code, out, err = run("simulate", "--workload", file, "--seed", "0")
    assert (code, out) == (2, "")
    assert err == "pagedkv: seed is for made workloads; nothing in a file is left to chance\n"


@pytest.mark.parametrize(
    ("asked", "runs", "words"),
    [
        ("5", 2, "5 requests were asked for; these are all that the file has"),
        ("1", 1, "the first 1 of the 2 in the file"),
    ],
)
def test_how_many_of_a_files_requests_run_is_said(run, trace, asked, runs, words) -> None:
    file = trace("arrival,input,output\n0,10,5\n2,20,5\n")
    out = run("simulate", "--workload", file, "--requests", asked)[1]
    assert words in out.splitlines()
    assert f"trace.csv: {runs} request" in out
    whole = run("simulate", "--workload", file, "--requests", "2")[1]
    assert "in the file" not in whole and "asked for" not in whole


def test_what_several_answers_save_is_told_and_what_a_batch_counts(run) -> None:
    found = figures(run, "--answers", "4")
    assert [found[policy]["saved_pct"] for policy in POLICIES[:3]] == [0, 0, 0]
    assert found["paged"]["saved_pct"] > 5
    out = run(*SMALL, "--answers", "4")[1]
    *_, counts, saves = out.splitlines()
    assert counts == "A batch counts requests; each has 4 answers."
    saved = f"{found['paged']['saved_pct']:.1f}"
    assert saves == f"paged: sharing prompts saves {saved} % of the blocks."
    alone = run(*SMALL)[1]
    assert "sharing" not in alone and "answers" not in alone


def test_thousands_are_parted_by_commas(run, trace) -> None:
    file = trace("arrival,input,output\n0,4000,6000\n" + "1,4000,6000\n" * 1999)
    asked = ("--policy", "paged", "--requests", "1500")
    out = run("simulate", "--workload", file, *asked)[1]
    assert "1,500 requests, 4,000.00 tokens in, 6,000.00 out" in out
    assert "the first 1,500 of the 2,000 in the file" in out
    assert not re.search(r"[0-9]{4}", out)


def test_columns_of_the_table_never_run_together(run, trace) -> None:
    file = trace("arrival,input,output\n0,10,5\n1000000000000,20,5\n")
    out = run("simulate", "--workload", file, "--iteration-ms", "0.01")[1]
    table = [line for line in out.splitlines() if line.startswith(("policy ", *POLICIES))][:5]
    assert len({len(line) for line in table}) == 1
    for line in table[1:]:
        assert len(line.split()) == 9
        assert int(line.split()[-1].replace(",", "")) > 10**12


def test_a_file_that_is_too_large_is_refused_by_name(run, tmp_path: Path) -> None:
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(50_000_001)
    code, out, err = run("simulate", "--workload", str(large))
    assert (code, out) == (2, "")
    assert err == "pagedkv: 'large.csv': the file is too large; it must have at most 50 MB\n"


class Terminal(StringIO):
    """Somebody looks."""

    def isatty(self) -> bool:
        return True


def test_who_looks_is_told_how_far_it_is_and_the_line_goes(run, monkeypatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    code, out, _ = run(*SMALL, "--policy", "paged")
    told = terminal.getvalue().split("\r\x1b[K")
    assert code == 0 and "paged" in out
    assert told[:2] == ["", "paged: 0 of 60 requests"]
    assert told[-2:] == ["paged: 60 of 60 requests", ""]


def test_iterations_in_which_nobody_runs_are_told(run, tmp_path) -> None:
    trace = tmp_path / "sparse.csv"
    trace.write_text("arrival,input,output\n0,5,3\n9,5,3\n")
    _, out, _ = run("simulate", "--workload", str(trace), "--policy", "paged")
    assert "means over 6 iterations from number 0 on" in out
    assert "Nobody ran in 197 others, which no mean counts." in out


def test_where_nobody_ever_waits_no_mean_ends_with_an_empty_queue(run) -> None:
    """The queue is empty in every iteration: what ends the means is that nobody comes any more."""
    _, out, _ = run("simulate", "--rate", "0.5", "--requests", "100", "--policy", "paged")
    assert "from number 500 on, until the last request has left the queue." in out
    assert "queue is empty" not in out
