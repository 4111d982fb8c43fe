"""Who takes part in a lesson: everybody that some frame mentions, in order of appearance."""

from dataclasses import replace
from typing import Any

import pytest
from trace_samples import FRAME, attention, request

from pagedkv.settings import Settings
from pagedkv.trace.frame import (
    Check,
    ExecutionView,
    Frame,
    InputCount,
    LookupView,
    Runtime,
    Trace,
    WhatIf,
    WhatIfCell,
)
from pagedkv.trace.participants import participants
from pagedkv.trace.state import ContiguousView, ReservationView

NOBODY = replace(
    FRAME, state=replace(FRAME.state, requests=(), waiting=(), blocks=()), attention=None
)


def state(**fields: Any) -> dict[str, Any]:
    return {"state": replace(NOBODY.state, **fields)}


def contiguous(reserved: tuple[str, ...], refused: tuple[str, ...]) -> dict[str, Any]:
    reservations = tuple(ReservationView(name, 0, 4, 1, ("x",)) for name in reserved)
    return {"contiguous": ContiguousView(24, reservations, 20, refused)}


def what_if(about: str, owner: str, wanted_by: str) -> dict[str, Any]:
    cell = WhatIfCell(0, 0, "stored", (owner,), 0, "x", (wanted_by,), 0, (), True)
    return {"what_if": WhatIf("kind", about, "", "", (), (cell,), 1)}


def trace(*frames: Frame) -> Trace:
    runtime = Runtime("cpu", "torch", None, "a toy")
    return Trace("made-up", None, Settings(), runtime, None, frames, (), None)


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({}, ()),
        (state(requests=(request("R1", "x"), request("B", "y"))), ("R1", "B")),
        (state(waiting=("C", "D")), ("C", "D")),
        (contiguous(("B",), ("C",)), ("B", "C")),
        ({"check": Check("B", 1, 6, 1, 2, 0, 2, 0, 2, True)}, ("B",)),
        ({"execution": ExecutionView((InputCount("C", 6, 0, 0),), 6, 128)}, ("C",)),
        (what_if("B", "C", "D"), ("B", "C", "D")),
        ({"lookup": (LookupView("B", 0, 0, 0, 0, 0, 0.0, 0.0),)}, ("B",)),
        ({"attention": (attention("R2", 0), attention("R1", 0))}, ("R2", "R1")),
    ],
)
def test_whoever_a_frame_mentions_takes_part(fields, names):
    assert participants([replace(NOBODY, **fields)]) == names


def test_each_has_one_place_that_of_the_first_appearance():
    first = replace(NOBODY, **contiguous(("B",), ("C",)))
    later = replace(
        NOBODY, **state(requests=(request("D", "x"), request("B", "y")), waiting=("E",))
    )
    assert participants([first, later]) == ("B", "C", "D", "E")
