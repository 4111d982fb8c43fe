"""The page that opens the kernel: it steps, and every experiment ends in a verdict."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from app_pages import Open
from streamlit.testing.v1 import AppTest

import kernels
from pagedkv.experiments import FAULTS, Fault, build_scene, run_fault, run_poison
from pagedkv.kernel_walk import (
    kernel_text,
    record_launch,
    source_html,
    state_html,
    walk,
    where,
)
from pagedkv.trace.written import small

BLOCK_SIZES = (4, 3)


def opened(open_page: Open, block_size: int) -> AppTest:
    app = open_page("kernel")
    assert not app.exception
    app.slider(key="kernel_block_size").set_value(block_size).run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    return "\n".join(markdown.value for markdown in app.markdown)


def html(app: AppTest, kind: str) -> str:
    (found,) = (h.proto.body for h in app.get("html") if f'class="{kind}"' in h.proto.body)
    return str(found)


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_wherever_the_learner_steps_source_state_and_words_are_those_of_the_walk(
    open_page: Open, block_size: int
) -> None:
    app = opened(open_page, block_size)
    launch = record_launch(build_scene(block_size), tile=4)
    walked = walk(launch.steps, 0, 0)

    def expect_at(at: int) -> None:
        moment = walked.moments[at]
        assert app.slider(key="kernel_line").value == at
        assert html(app, "kernel-source") == source_html(walked.source, moment)
        assert html(app, "kernel-state") == state_html(moment, launch.texts[0])
        assert where(walked, at) in shown(app)

    expect_at(0)
    press(app, "Next line")
    expect_at(1)
    press(app, "Next line")
    press(app, "Back")
    expect_at(1)
    app.selectbox(key="kernel_tile").set_value(2).run()
    expect_at(walked.begin_of(1))
    app.slider(key="kernel_line").set_value(walked.begin_of(2) + 3).run()
    expect_at(walked.begin_of(2) + 3)
    assert app.selectbox(key="kernel_tile").value == 3
    assert "to the dense reference: **" not in shown(app)
    app.slider(key="kernel_line").set_value(len(walked.moments) - 1).run()
    expect_at(len(walked.moments) - 1)
    assert f"**{small(launch.difference_to_dense(0, 0))}**" in shown(app)


def test_request_head_and_tile_size_are_chosen(open_page: Open) -> None:
    app = opened(open_page, 4)
    app.selectbox(key="kernel_tile_size").set_value(8).run()
    app.selectbox(key="kernel_request").set_value("C").run()
    app.selectbox(key="kernel_head").set_value(3).run()
    app.selectbox(key="kernel_tile").set_value(2).run()
    launch = record_launch(build_scene(4), tile=8)
    row = launch.requests.index("C")
    walked = walk(launch.steps, row, 3)
    at = walked.begin_of(1) + 10
    app.slider(key="kernel_line").set_value(at).run()
    assert not app.exception
    assert html(app, "kernel-state") == state_html(walked.moments[at], launch.texts[row])
    assert "takes 8 positions at a time" in shown(app)


def test_a_shorter_walk_takes_the_learner_to_its_end_at_most(open_page: Open) -> None:
    app = opened(open_page, 4)
    app.selectbox(key="kernel_tile_size").set_value(2).run()
    app.slider(key="kernel_line").set_value(app.slider(key="kernel_line").max).run()
    app.selectbox(key="kernel_tile_size").set_value(16).run()
    assert not app.exception
    line = app.slider(key="kernel_line")
    assert line.value == line.max


@pytest.mark.parametrize("tiles", [(), (16, 32, 64)])
def test_the_page_takes_the_tiles_that_the_backend_can_record(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, tiles: tuple[int, ...]
) -> None:
    """A compiled kernel has no small tile; without Triton there is nothing to record."""
    monkeypatch.setattr(kernels, "recordable_tiles", lambda: tiles)
    app = open_page("kernel")
    assert not app.exception
    if tiles:
        options = app.selectbox(key="kernel_tile_size").options
        assert options == [str(tile) for tile in tiles]
    else:
        assert [code.value for code in app.code] == [kernel_text()]
        assert "Here it cannot run" in shown(app)
    press(app, "Poison every unused slot")
    assert "bitwise the same" in shown(app)


ON_TORCH = """
import sys
sys.path[:0] = ["tests/pages"]
from app_pages import PATIENCE, go_to
from streamlit.testing.v1 import AppTest
app = go_to(AppTest.from_file("pages/course.py", default_timeout=PATIENCE), "kernel")
assert not app.exception
app.selectbox(key="kernel_fault").set_value("one-too-short").run()
assert not app.exception
print(len(app.code), *(markdown.value for markdown in app.markdown))
"""


def test_without_triton_the_source_is_shown_and_faults_are_judged(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ON_TORCH],
        cwd=project,
        env={**os.environ, "PAGEDKV_BACKEND": "torch"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("1 ")
    assert "Here it cannot run" in done.stdout
    assert "The dense reference objects" in done.stdout


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_the_experiments_that_must_not_matter(open_page: Open, block_size: int) -> None:
    app = opened(open_page, block_size)
    poison = run_poison(build_scene(block_size))
    press(app, "Poison every unused slot")
    assert f"{poison.num_poisoned} of {poison.num_slots} slots" in shown(app)
    assert "bitwise the same" in shown(app)
    assert "The dense reference agrees" in shown(app)
    press(app, "Shuffle the physical blocks")
    assert re.search(r"Largest difference to the answer before: 0\b(?!\.)", shown(app))
    assert "The dense reference agrees" in shown(app)
    press(app, "Store the same context at five block sizes")
    assert list(app.dataframe[0].value["block size"]) == [1, 2, 4, 8, 16]
    assert "The dense reference agrees" in shown(app)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.slug)
@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_each_fault_is_objected_to_and_names_its_report(
    open_page: Open, block_size: int, fault: Fault
) -> None:
    app = opened(open_page, block_size)
    app.selectbox(key="kernel_fault").set_value(fault.slug).run()
    assert not app.exception
    result = run_fault(build_scene(block_size), fault)
    assert "**The dense reference objects**" in shown(app)
    assert small(result.weight_difference) in shown(app)
    assert f"[{fault.report.name}]({fault.report.url})" in shown(app)


def test_a_fault_that_can_do_nothing_here_says_so_and_draws_nothing(open_page: Open) -> None:
    app = opened(open_page, 1)
    app.selectbox(key="kernel_fault").set_value("copy-missed").run()
    assert not app.exception
    assert "**Here this fault can do nothing.**" in shown(app)
    assert "**The dense reference agrees**" in shown(app)
    assert not app.get("plotly_chart")
    app.selectbox(key="kernel_fault").set_value("one-too-short").run()
    assert "can do nothing" not in shown(app)
    assert len(app.get("plotly_chart")) == 1


def test_faults_are_off_until_one_is_switched_on(open_page: Open) -> None:
    assert "The dense reference" not in shown(open_page("kernel"))
