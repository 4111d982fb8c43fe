"""The baseline of a lesson: shown from the first request on, with what it stores and whom not."""

from pagedkv.contiguous_baseline import ContiguousBaseline
from pagedkv.events import Event, RequestRefused
from pagedkv.trace.state import ContiguousView, ReservationView


def test_it_shows_nothing_until_somebody_asks():
    baseline = ContiguousBaseline(24, on_event=print)
    assert baseline.view() is None
    assert not baseline.has_reservation("B")


def test_it_stores_the_text_of_whom_it_takes_in_and_names_whom_it_refuses():
    heard: list[Event] = []
    baseline = ContiguousBaseline(24, on_event=heard.append)
    assert baseline.reserve("B", "ROMEO:", 20)
    assert not baseline.reserve("C", "JULIET", 6)
    assert baseline.has_reservation("B") and not baseline.has_reservation("C")
    reserved = (ReservationView("B", 0, 20, 6, tuple("ROMEO:")),)
    assert baseline.view() == ContiguousView(24, reserved, 4, ("C",))
    assert [type(event) for event in heard] == [RequestRefused]


def test_what_goes_on_is_stored_in_the_room_that_was_reserved():
    baseline = ContiguousBaseline(24, on_event=print)
    baseline.reserve("B", "ROMEO:", 20)
    baseline.go_on("B", " ")
    reserved = (ReservationView("B", 0, 20, 7, tuple("ROMEO: ")),)
    assert baseline.view() == ContiguousView(24, reserved, 4, ())


def test_a_refusal_alone_is_shown_too():
    baseline = ContiguousBaseline(4, on_event=print)
    assert not baseline.reserve("B", "ROMEO:", 20)
    assert baseline.view() == ContiguousView(4, (), 4, ("B",))
