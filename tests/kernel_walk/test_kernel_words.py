"""A moment of a walk as HTML and in words."""

import html
import re
from dataclasses import replace

import pytest

import kernels
from pagedkv.experiments import build_scene
from pagedkv.kernel_walk import (
    Moment,
    RecordedLaunch,
    Walk,
    introduction,
    kernel_text,
    record_launch,
    source_html,
    state_html,
    walk,
    where,
)


@pytest.fixture(scope="module")
def launch() -> RecordedLaunch:
    return record_launch(build_scene(4), tile=4)


@pytest.fixture(scope="module")
def walked(launch: RecordedLaunch) -> Walk:
    return walk(launch.steps, 0, 0)


def marked(page: str) -> list[int]:
    """Numbers of the lines that are marked as run."""
    return [int(n) for n in re.findall(r'<span class="ran"><b> *(\d+)</b>', page)]


def cells(page: str, heading: str) -> list[str]:
    """The cells of the row with this heading."""
    (row,) = re.findall(rf'<th scope="row">{heading}</th>(.*?)</tr>', page)
    return [html.unescape(cell) for cell in re.findall("<td>(.*?)</td>", row)]


def test_the_lines_of_the_statement_are_marked_and_shown_wherever_it_stands(walked):
    source = walked.source
    for moment in walked.moments:
        page = source_html(source, moment, around=5)
        assert marked(page) == list(range(moment.statement.first, moment.statement.last + 1))
        numbers = [int(n) for n in re.findall(r"<b> *(\d+)</b>", page)]
        assert len(numbers) == 11
        assert numbers[0] >= source.first_line
        assert numbers[-1] < source.first_line + len(source.lines)


def test_the_source_is_escaped(walked):
    comparing = next(m for m in walked.moments if "<" in walked.source.lines[line_of(walked, m)])
    page = source_html(walked.source, comparing)
    assert " &lt; " in page and " < " not in page
    assert html.unescape(re.sub("<.*?>", "", page)).count(" < ") == page.count(" &lt; ")


def line_of(walked: Walk, moment: Moment) -> int:
    return moment.statement.first - walked.source.first_line


def test_the_state_shows_what_was_recorded(launch, walked):
    at = next(i for i, m in enumerate(walked.moments) if m.tile == 1 and "scores" in m.new)
    moment = walked.moments[at]
    page = state_html(moment, launch.texts[0])
    assert cells(page, "position") == ["4", "5", "6", "7"]
    assert cells(page, "block id") == [str(launch.block_tables[0][1])] * 4
    assert cells(page, "address of K, in elements") == [str(a) for a in moment.addresses]
    assert cells(page, "score · log₂ e") == [f"{s:.3f}".replace("-", "−") for s in moment.scores]
    assert re.findall(r'<tr class="new"><th scope="row">(.*?)</th>', page) == ["score · log₂ e"]


def test_a_huge_number_is_a_power_of_ten_and_none_a_dot(launch, walked):
    first = walked.moments[walked.begin_of(0)]
    page = state_html(first, launch.texts[0])
    assert cells(page, "running maximum") == ["−3.4e+38"]
    assert cells(page, "score · log₂ e") == ["·"] * 4
    assert cells(page, "output") == ["·"]


def test_tokens_are_visible_and_never_html(launch, walked):
    moment = walked.moments[walked.begin_of(0)]
    page = state_html(moment, "<b> \n")
    assert cells(page, "token") == ["<", "b", ">", "␣"]
    assert "<b>" not in page


def test_where_a_walk_stands(launch, walked):
    assert where(walked, 0) == "Outside the loop, which takes 4 tiles."
    assert where(walked, walked.begin_of(0)) == "**Tile 1 of 4**: positions 0 to 3"
    assert where(walked, walked.begin_of(3)) == "**Tile 4 of 4**: position 12"
    in_one = walk(record_launch(build_scene(4), tile=16).steps, 0, 0)
    assert where(in_one, 0) == "Outside the loop, which takes 1 tile."


def test_the_introduction_says_what_ran():
    interpreted = kernels.runtime()
    assert "on the CPU, interpreted" in introduction(interpreted, 4)
    assert "takes 4 positions" in introduction(interpreted, 4)
    on_gpu = {"device": "cuda", "backend": "triton-cuda", "gpu": "NVIDIA H200"}
    assert "on the NVIDIA H200, one program" in introduction(on_gpu, 16)
    assert "interpreted" not in introduction(on_gpu, 16)
    assert "cannot run" in introduction(interpreted, None)


def test_the_kernels_text_can_be_shown_whole(walked):
    assert kernel_text().splitlines() == list(walked.source.lines)


def test_the_launch_is_that_of_all_requests_and_dense_agrees(launch):
    assert launch.requests == ("B", "C", "B2")
    for row, text in enumerate(launch.texts):
        assert launch.steps.context_lens[row] == len(text)
        for head in range(4):
            assert launch.difference_to_dense(row, head) < 1e-5
    wrong = replace(launch, dense=launch.dense[::-1])
    assert wrong.difference_to_dense(0, 0) > 1e-3
