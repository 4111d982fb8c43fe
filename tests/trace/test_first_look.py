"""Which layer and head a strip of weights opens with."""

from dataclasses import replace

import numpy as np
import pytest

from pagedkv.trace.first_look import first_look, last_queries, most_spread_head, spread

ONE_HOT = [0.0, 1.0, 0.0, 0.0]
EVEN = [0.25, 0.25, 0.25, 0.25]
TWO = [0.5, 0.5, 0.0, 0.0]


@pytest.fixture
def a_view(recorded):
    """``a_view(layer, *heads)``: a lesson's view with other weights in it."""
    frames = recorded("growth").frames
    view = next(view for frame in frames for view in frame.attention or ())
    return lambda layer, *heads: replace(view, layer=layer, paged=np.array(heads))


def test_spread_runs_from_one_position_to_all():
    assert spread(np.array([ONE_HOT, TWO, EVEN])) == pytest.approx([0.0, 0.5, 1.0])


def test_a_context_of_one_has_no_spread():
    assert spread(np.array([[1.0], [1.0]])).tolist() == [0.0, 0.0]


def test_a_head_is_judged_by_its_least_spread_query(a_view):
    assert most_spread_head([a_view(0, EVEN, TWO), a_view(0, ONE_HOT, TWO)]) == (0, 1)


def test_layers_compete_with_each_other(a_view):
    assert most_spread_head([a_view(0, TWO, TWO), a_view(1, ONE_HOT, EVEN)]) == (1, 1)


@pytest.mark.parametrize("layers", [(0, 1, 2), (29,)])
def test_without_a_query_it_is_the_first_head_that_is_watched(recorded, layers):
    growth = recorded("growth")
    frames = tuple(replace(frame, attention=None) for frame in growth.frames)
    assert first_look(replace(growth, frames=frames, layers=layers)) == (layers[0], 0)


def test_of_a_prefill_only_the_last_query_counts(recorded):
    prefills = (frame.attention for frame in recorded("reserve-or-allocate").frames)
    views = next(views for views in prefills if views and len(views) > len(last_queries(views)))
    last = {
        name: max(view.query_position for view in views if view.request == name)
        for name in {view.request for view in views}
    }
    assert all(view.query_position == last[view.request] for view in last_queries(views))
    assert {view.request for view in last_queries(views)} == last.keys()


def test_a_worked_score_decides_where_to_look(recorded):
    trace = recorded("scattered-attention")
    score = next(frame.worked_score for frame in trace.frames if frame.worked_score)
    assert first_look(trace) == (score.layer, score.head)


def test_no_strip_of_the_growing_request_opens_on_a_single_position(recorded):
    trace = recorded("growth")
    layer, head = first_look(trace)
    strips = [view for frame in trace.frames for view in last_queries(frame.attention)]
    opened = [spread(view.paged)[head] for view in strips if view.layer == layer]
    assert len(opened) > 1
    assert min(opened) > 0.1
