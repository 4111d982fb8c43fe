"""Every frame of every real lesson: what the screen's handles say is what the trace's JSON says."""

import json
import re
from typing import Any

import pytest
from browser_tools import EVERY_LESSON, LessonPage, Open

from pagedkv.__main__ import main
from pagedkv.trace.written import visible

Json = Any

DRAWN_DIGITS = 4  # of a weight; the dense value differs by less

# All handles of a frame at once, with what each says: asking one by one would take minutes.
READ_HANDLES = """player => {
  const found = {};
  const note = (prefix, says) => {
    found[prefix] = {};
    for (const node of player.querySelectorAll(`[data-testid^="${prefix}"]`)) {
      const handle = node.dataset.testid;
      if (!node.checkVisibility({visibilityProperty: true})) continue;
      if (handle in found[prefix]) throw new Error(`${handle} is there twice`);
      found[prefix][handle] = says(node);
    }
  };
  const data = (...names) => node => names.map(name => node.dataset[name]);
  const chosen = name => player
    .querySelector(`.attention [aria-label="${name}"] [aria-pressed="true"]`)?.innerText;
  note('slot-P', data('state', 'owners', 'position'));
  note('table-', node => [...data('block')(node), node.innerText]);
  note('pending-', node => node.querySelector('.pending-char').innerText);
  note('waiting-', node => node.innerText);
  note('reservation-', data('start', 'reserved', 'stored'));
  note('refcount-P', node => [node.dataset.ref, node.innerText.split(' ').at(-1)]);
  note('weight-', node => data('value', 'dense')(node).map(Number));
  note('max-error', node => node.innerText);
  note('runtime', node => node.innerText);
  found.shown = {
    index: Number(player.dataset.index),
    who: chosen('request') ?? player.querySelector('.attention h3 .tag')?.innerText,
    layer: Number(chosen('layer')),
    head: Number(chosen('head')),
  };
  return found;
}"""


@EVERY_LESSON
def test_the_handles_of_every_frame_agree_with_the_trace(
    open_lesson: Open, slug: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", slug, "--json"]) == 0
    trace = json.loads(capsys.readouterr().out)
    lesson = open_lesson(f"/{slug}")
    assert lesson.num_frames == len(trace["frames"])
    for frame in trace["frames"]:
        found = handles(lesson)
        shown = found.pop("shown")
        where = f"frame {frame['index']}"
        assert shown["index"] == frame["index"]
        assert_measured(found, frame, shown, where)
        assert_runtime(found.pop("runtime"), trace)
        for prefix, expected in said_by(frame["state"], frame["contiguous"]).items():
            assert found.pop(prefix) == expected, f"{prefix} of {where}"
        assert found == {}
        lesson.press("ArrowRight")
    assert lesson.complaints == []


def handles(lesson: LessonPage) -> Json:
    """What every handle of the frame on the screen says, by its beginning and its name."""
    return lesson.by_id("player").evaluate(READ_HANDLES)


def said_by(state: Json, contiguous: Json) -> Json:
    """What the handles of board, strip and story must say for this state."""
    requests = state["requests"]
    reservations = contiguous["reservations"] if contiguous else []
    return {
        "slot-P": {
            f"slot-P{block['block_id']}-{offset}": [
                slot["state"],
                " ".join(slot["owners"]),
                "" if slot["position"] is None else str(slot["position"]),
            ]
            for block in state["blocks"]
            for offset, slot in enumerate(block["slots"])
        },
        "table-": {
            f"table-{request['name']}-L{i}": [str(block_id), f"→ P{block_id}"]
            for request in requests
            for i, block_id in enumerate(request["block_table"])
        },
        "pending-": {
            f"pending-{request['name']}": visible(request["pending_token"])
            for request in requests
            if request["pending_token"] is not None
        },
        "waiting-": {f"waiting-{name}": name for name in state["waiting"]},
        "reservation-": {
            f"reservation-{piece['request']}": [
                str(piece[key]) for key in ("start", "reserved", "stored")
            ]
            for piece in reservations
        },
        "refcount-P": {
            f"refcount-P{block['block_id']}": [str(block["ref_count"])] * 2
            for block in state["blocks"]
        },
    }


def assert_measured(found: Json, frame: Json, shown: Json, where: str) -> None:
    """Bars and errors are those of the query that the strip says it shows."""
    weights, error = found.pop("weight-"), found.pop("max-error")
    if not frame["attention"]:
        assert (weights, error) == ({}, {}), where
        return
    view = [
        view
        for view in frame["attention"]
        if (view["request"], view["layer"]) == (shown["who"], shown["layer"])
    ][-1]  # of a prompt's queries the last
    drawn = zip(view["paged"][shown["head"]], view["dense"][shown["head"]], strict=True)
    assert weights == {
        f"weight-{position}": pytest.approx(list(pair), abs=10**-DRAWN_DIGITS)
        for position, pair in enumerate(drawn)
    }, where
    assert numbers_in(error["max-error"]) == pytest.approx(
        [view["max_abs_error_weights"], view["max_abs_error_output"]], rel=0.05
    ), where


def assert_runtime(found: Json, trace: Json) -> None:
    """The screen names the backend and the largest of all errors of the lesson."""
    backend, check = found["runtime"].split(" | ")
    assert set(trace["runtime"]["backend"].split("-")) - {"cuda"} <= set(backend.lower().split())
    assert backend.endswith(trace["runtime"]["gpu"] or trace["runtime"]["device"].upper())
    errors = [
        view[key]
        for frame in trace["frames"]
        for view in frame["attention"] or ()
        for key in ("max_abs_error_weights", "max_abs_error_output")
    ]
    if errors:
        assert check.startswith("dense check ✓")
        assert numbers_in(check) == pytest.approx([max(errors)], rel=0.05)


def numbers_in(text: str) -> list[float]:
    """The numbers that a text writes, such as 1.2e-07."""
    return [float(number) for number in re.findall(r"\d[\d.]*(?:e-?\d+)?", text)]
