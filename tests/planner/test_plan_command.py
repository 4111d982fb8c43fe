"""``python -m pagedkv plan``: its contract, and what it refuses in one line with exit code 2."""

import json
import re
import subprocess
import sys

import pytest

from pagedkv.__main__ import main
from pagedkv.planner import MODELS, make_plan, make_steps
from pagedkv.planner.choices import Choices
from pagedkv.planner.command import MEASURES, WHOLE
from pagedkv.planner.memory import KvMemory

KEYS = {"bytes_per_token", "num_blocks", "kv_tokens", "max_concurrency", "max_len_that_fits"}
MODEL = ("--model", "llama-3.1-8b")
OWN = ("--layers", "32", "--kv-heads", "8", "--head-dim", "128")
KV = ("--kv-gib", "10")
GPU = ("--gpu-gib", "80", "--utilization", "0.9", "--weights-gib", "16", "--overhead-gib", "2")


@pytest.fixture
def run(capsys):
    """``run(*arguments)`` is (exit code, stdout, stderr) of ``plan``, in this process."""

    def once(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(("plan", *arguments))
        except SystemExit as stopped:
            code = stopped.code
        return code, *capsys.readouterr()

    return once


@pytest.fixture
def planned(run):
    """The JSON of a plan that works."""

    def once(*arguments: str) -> dict:
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        assert out.count("\n") == 1
        return json.loads(out, parse_constant=pytest.fail)

    return once


def test_the_contract_from_outside(project):
    command = [sys.executable, "-m", "pagedkv", "plan", *OWN, *GPU, "--max-len", "8192", "--json"]
    done = subprocess.run(command, cwd=project, capture_output=True, check=True)
    plan = json.loads(done.stdout)
    assert done.stderr == b"" and set(plan) >= KEYS
    assert plan["bytes_per_token"] == 131_072
    assert plan["num_blocks"] == 54 * 2**30 // 2**21 == 27_648
    assert plan["kv_tokens"] == plan["max_len_that_fits"] == 27_648 * 16
    assert plan["max_concurrency"] == 27_648 / 512


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.title)
def test_every_model_can_be_named(planned, model):
    plan = planned("--model", model.names[0], "--kv-gib", "40", "--max-len", "4096")
    assert set(plan) >= KEYS
    expected = make_plan(Choices(model.geometry, KvMemory(40), max_len=4096))
    assert {key: plan[key] for key in KEYS} == {key: getattr(expected, key) for key in KEYS}
    assert plan["source"] == model.source
    assert plan["kv_tokens"] == plan["num_blocks"] * 16


def test_help_tells_the_defaults_that_are_taken(run):
    code, out, _ = run("--help")
    assert code == 0
    told = dict(re.findall(r"--([\w-]+) N [^-]*?;\s+default\s+(\d+)", out))
    chosen = Choices(MODELS[0].geometry, KvMemory(10))
    names = ("dtype-bytes", "tp", "block-size", "max-len", "batched-tokens")
    assert told == {name: str(getattr(chosen, name.replace("-", "_"))) for name in names}


def test_every_flag_counts(planned):
    flags = ("--dtype-bytes", "1", "--tp", "4", "--block-size", "32", "--max-len", "1000")
    plan = planned(*OWN, *KV, *flags)
    assert plan["bytes_per_token"] == 32 * 2 * 2 * 128
    assert plan["num_blocks"] == 10 * 2**30 // (32 * 16_384)
    assert plan["max_concurrency"] == plan["num_blocks"] / 32


def test_a_latent_with_heads_or_without(planned):
    latent = ("--mla-rank", "512", "--rope-dim", "64", "--tp", "8", *KV)
    assert planned("--layers", "61", *latent)["bytes_per_token"] == 70_272
    with_heads = ("--layers", "61", "--kv-heads", "128", "--head-dim", "128")
    assert planned(*with_heads, *latent)["bytes_per_token"] == 70_272


def test_windows(planned):
    flags = ("--window", "4096", "--window-layers", "32", "--batched-tokens", "2048")
    assert planned(*OWN, *KV, *flags)["blocks_per_request"] == 6143 // 16 + 2


def test_a_config_file(planned, tmp_path):
    file = tmp_path / "config.json"
    fields = {"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8}
    file.write_text(json.dumps({**fields, "hidden_size": 4096}))
    assert planned("--config", str(file), *KV)["bytes_per_token"] == 131_072


def test_as_text_it_shows_model_source_and_every_step(run):
    code, out, err = run("--model", "opt-66b", *KV)
    assert (code, err) == (0, "")
    assert "OPT-66B: MHA: 64 layers" in out
    assert "unverified" in out
    plan = make_plan(Choices(MODELS[2].geometry, KvMemory(10)))
    for step in make_steps(plan):
        (line,) = (line for line in out.splitlines() if line.startswith(f"{step.label}  "))
        assert step.formula in line and line.endswith(step.result)


def test_where_one_request_does_not_fit_it_says_so_and_what_would(planned, run):
    flags = (*MODEL, "--kv-gib", "3", "--max-len", "32768")
    plan = planned(*flags)
    assert plan["fits"] is False and plan["max_concurrency"] < 1
    assert plan["max_len_that_fits"] == 24_576
    assert "A maximum length of 24,576 fits." in plan["message"]
    assert plan["message"] in " ".join(run(*flags)[1].splitlines())


def test_a_model_that_leaves_nothing_is_a_plan_with_0_blocks(planned):
    tight = (
        "--gpu-gib",
        "16",
        "--utilization",
        "0.9",
        "--weights-gib",
        "15",
        "--overhead-gib",
        "1",
    )
    plan = planned(*MODEL, *tight)
    assert (plan["num_blocks"], plan["max_concurrency"]) == (0, 0)
    assert "does not fit" in plan["message"]


def test_what_would_not_run_as_counted_is_warned_of(planned, run):
    flags = (*MODEL, *KV, "--tp", "3")
    (warning,) = planned(*flags)["warnings"]
    assert "Engines refuse to share 8 KV heads between 3 GPUs." in warning
    assert warning in run(*flags)[1].splitlines()
    assert planned(*MODEL, *KV)["warnings"] == []


def test_windows_are_explained(run):
    out = run("--model", "gemma-3-27b", *KV)[1]
    assert "The 52 layers with a window keep at most 9,215 positions" in out


def test_what_fits_has_no_message(planned):
    assert planned(*MODEL, *KV)["message"] is None


BAD = [
    "0",
    "-1",
    "9" * 400,
    "1" * 5000,
    "nan",
    "inf",
    "four",
    "",
    "1_0",
    "٣",
    "1e999",
    "0x10",
    "4,5",
]
COUNTS = ("--layers", "--kv-heads", "--head-dim", "--tp", "--block-size", "--max-len")


def refused(run, *arguments: str) -> str:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("pagedkv: ") and len(line) < 300
    return line


@pytest.mark.parametrize("value", [*BAD, "1.5"])
@pytest.mark.parametrize("flag", [*COUNTS, "--dtype-bytes", "--batched-tokens"])
def test_a_count_that_cannot_be_is_one_line_that_names_it(run, flag, value):
    line = refused(run, *OWN, *KV, flag, value)
    assert line.startswith(f"pagedkv: {flag} is ")
    assert value[:20] in line and "it must be" in line


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("flag", ["--kv-gib"])
def test_a_measure_that_cannot_be(run, flag, value):
    line = refused(run, *OWN, flag, value)
    assert "--kv-gib is" in line and "it must be a number" in line


FLAGS = [f"--{flag}" for flag in (*WHOLE, *MEASURES)]
LIKE_OPTIONS = ["-1e3", "-inf", "-nan", "-1_0", "-0x10", "-.5e1", "-", "-four", "-h1", "-٣"]


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("value", LIKE_OPTIONS)
def test_what_looks_like_an_option_is_refused_like_any_other_value(run, flag, value):
    memory = KV if flag == "--kv-gib" else GPU
    geometry = () if flag.strip("-") in WHOLE else OWN
    line = refused(run, *geometry, *memory, flag, value)
    assert line.startswith(f"pagedkv: {flag} is ") and "it must be" in line


def test_the_largest_latent_is_allowed(planned):
    plan = planned("--layers", "1", "--mla-rank", "65472", "--rope-dim", "64", *KV)
    assert plan["bytes_per_token"] == 65_536 * 2


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        *(("--utilization", value) for value in ("0", "-0.5", "1.01", "nan", "inf", "most")),
        *(("--gpu-gib", value) for value in ("0", "-80", "1000000000", "nan", "inf", "A100")),
        *(("--weights-gib", value) for value in ("-1", "1000000000", "nan", "heavy")),
        *(("--overhead-gib", value) for value in ("-1", "1000000000", "nan", "some")),
    ],
)
def test_a_gpu_that_cannot_be(run, flag, value):
    line = refused(run, *MODEL, *GPU, flag, value)
    assert line.startswith(f"pagedkv: {flag} is ") and value in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "without --layers and --kv-heads and --head-dim: give --model NAME"),
        (KV, "without --layers"),
        (("--layers", "3", *KV), "without --kv-heads and --head-dim"),
        (("--layers", "3", "--mla-rank", "512", *KV), "without --rope-dim"),
        (MODEL, "without --gpu-gib and --utilization and --weights-gib and --overhead-gib"),
        ((*MODEL, *GPU[:4]), "without --weights-gib and --overhead-gib: give --kv-gib, or"),
        ((*MODEL, *GPU[:4]), "the weights are 14.96 GiB in all"),
        ((*MODEL, *KV, *GPU), "leave --gpu-gib and --utilization"),
        ((*MODEL, *OWN, *KV), "--model says what the model is; leave --layers and --kv-heads and"),
        ((*MODEL, "--window", "5", *KV), "--model says what the model is; leave --window out"),
        (
            ("--config", "x", "--rope-dim", "5", *KV),
            "--config says what the model is; leave --rope",
        ),
        ((*MODEL, "--config", "x", *KV), "--model and --config both say what the model is"),
        (
            ("--layers", "3", "--mla-rank", "65536", "--rope-dim", "64", *KV),
            "--mla-rank is 65536 and --rope-dim 64; together they must be at most 65,536",
        ),
        (
            ("--layers", "3", "--mla-rank", "65537", "--rope-dim", "64", *KV),
            "--mla-rank is 65537; it must be a whole number from 1 to 65,536",
        ),
        ((*OWN, *KV, "--dtype-bytes", "3"), "--dtype-bytes is 3; it must be one of 1 (fp8), 2"),
        ((*OWN, *KV, "--window", "10"), "--window is 10, and --window-layers is 0; give both"),
        ((*OWN, *KV, "--window-layers", "33"), "--window-layers is 33; it must be a whole number"),
        (("--model", "gpt-9", *KV), "give --layers, --kv-heads and --head-dim; near it: gpt-2"),
        (("--model", "x" * 9000, *KV), "there is no model 'xxx"),
        (("--config", "nowhere.json", *KV), "--config is 'nowhere.json', which cannot be read"),
        (("--config", "\0", *KV), "which cannot be read"),
        (("--config", ".", *KV), "which cannot be read"),
    ],
)
def test_what_is_missing_or_contradicts_is_said_in_one_line(run, arguments, said):
    assert said in refused(run, *arguments)


def test_the_table_can_be_listed(run):
    code, out, _ = run("--models")
    assert code == 0 and len(out.splitlines()) == len(MODELS)
    listed = json.loads(run("--models", "--json")[1])
    assert [row["title"] for row in listed] == [model.title for model in MODELS]
    gemma = next(row for row in listed if row["title"] == "Gemma-3-4B")
    assert {name: gemma[name] for name in gemma if name not in ("title", "names", "source")} == {
        **{"layers": 34, "kv_heads": 4, "head_dim": 256, "num_heads": 8, "v_head_dim": None},
        **{"windowed_layers": 29, "window": 1024, "latent": None},
    }
