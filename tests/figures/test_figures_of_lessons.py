"""Every lesson's figures, drawn from real runs: they agree with the trace at any settings."""

import json

import numpy as np
import plotly.graph_objects as go
import pytest

import kernels
from pagedkv.figures import (
    PARTS,
    attention_alt,
    attention_choices,
    attention_figure,
    attention_table,
    memory_alt,
    memory_figure,
    memory_table,
)
from pagedkv.figures.attention_data import attention_map
from pagedkv.figures.theme import OKABE_ITO, request_colour
from pagedkv.lessons import LESSONS, find_lesson
from pagedkv.model import load_model
from pagedkv.player.roster import Roster
from pagedkv.recorder import record
from pagedkv.settings import Settings
from pagedkv.trace.participants import participants

AT_THE_DEFAULTS = [(lesson.slug, Settings()) for lesson in LESSONS]
ELSEWHERE = [
    (lesson.slug, settings)
    for settings in (
        Settings(block_size=1),
        Settings(block_size=3, capacity=23),
        Settings(capacity=4),
        Settings(block_size=32, capacity=4),
    )
    for lesson in LESSONS
]
LONG = [
    (slug, Settings(prompt_length=64, capacity=256)) for slug in ("block-table", "copy-on-write")
]
MOST = 150_000  # characters of JSON, for all that a page shows at once at the defaults


@pytest.fixture(scope="module")
def model():
    return load_model(kernels.runtime()["device"] or "cpu")


@pytest.fixture(
    scope="module",
    params=[*AT_THE_DEFAULTS, *ELSEWHERE, *LONG],
    ids=lambda p: f"{p[0]}-b{p[1].block_size}-c{p[1].capacity}-p{p[1].prompt_length}",
)
def trace(request, model):
    slug, settings = request.param
    return record(find_lesson(slug), settings, model=model)


def figures(trace) -> list[go.Figure]:
    """All that there are for the last layer and head, each request's three maps included."""
    choices = attention_choices(trace)
    return [memory_figure(trace, dark=True)] + [
        attention_figure(trace, name, choices.layers[-1], choices.heads[-1], part)
        for name in choices.requests
        for part in PARTS
    ]


def test_figures_are_valid_json_and_small(trace):
    texts = [figure.to_json() for figure in figures(trace)]
    for text in texts:
        json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    if trace.settings == Settings():
        assert sum(map(len, texts)) < MOST


def test_maps_hold_the_latest_weights_of_every_query(trace):
    choices = attention_choices(trace)
    for frame in trace.frames:
        for view in frame.attention or ():
            assert view.request in choices.requests
    for name in choices.requests:
        attention = attention_map(trace, name, choices.layers[-1], choices.heads[0])
        for row, query in enumerate(attention.queries):
            views = [
                view
                for view in trace.frames[query.frame].attention
                if (view.request, view.query_position) == (name, query.position)
                and view.layer == choices.layers[-1]
            ]
            weights = views[-1].paged[choices.heads[0]]
            assert (attention.kernel[row, : len(weights)] == weights).all()
            assert np.isnan(attention.kernel[row, len(weights) :]).all()


def test_rows_sum_to_one_and_kernel_and_dense_agree(trace):
    choices = attention_choices(trace)
    for name in choices.requests:
        for layer in choices.layers:
            attention = attention_map(trace, name, layer, choices.heads[-1])
            assert attention.row_sums("kernel") == pytest.approx(1, abs=1e-5)
            assert attention.largest_difference < 1e-5


def test_columns_name_the_blocks_of_the_table(trace):
    for name in attention_choices(trace).requests:
        attention = attention_map(trace, name, 0, 0)
        last = trace.frames[attention.queries[-1].frame].state
        table = next(r.block_table for r in last.requests if r.name == name)
        assert [span.block_id for span in attention.spans] == list(table[: len(attention.spans)])


def test_characters_are_those_of_the_request(trace):
    for name in attention_choices(trace).requests:
        attention = attention_map(trace, name, 0, 0)
        last = trace.frames[attention.queries[-1].frame].state
        tokens = next(r.tokens for r in last.requests if r.name == name)
        assert (
            "".join(key.token for key in attention.keys) == "".join(tokens)[: len(attention.keys)]
        )


def test_stacks_sum_to_the_capacity_in_every_frame(trace):
    stacks = [d for d in memory_figure(trace).data if d.type == "bar" and d.yaxis in (None, "y")]
    for index in range(len(trace.frames)):
        assert sum(bar.y[index] for bar in stacks) == trace.settings.capacity


def test_memory_counts_the_slots_of_the_board(trace):
    table = memory_table(trace)
    for frame, (_, row) in zip(trace.frames, table.iterrows(), strict=True):
        states = [slot.state for block in frame.state.blocks for slot in block.slots]
        assert row["stored"] == states.count("stored")
        assert row["allocated, empty"] == states.count("empty")
        assert row["free"] == states.count("free") + states.count("stale")


def test_words_hold_numbers_of_the_trace(trace):
    last = trace.frames[-1].state.totals
    assert f"{len(trace.frames)} frame" in memory_alt(trace)
    assert f"{last.stored_slots} at last" in memory_alt(trace)
    for name in attention_choices(trace).requests:
        rows = len(attention_map(trace, name, 0, 0).queries)
        for part in PARTS:
            assert f"{rows} quer" in attention_alt(trace, name, 0, 0, part)
        assert attention_table(trace, name, 0, 0)["query"].nunique() == rows


def test_a_request_has_the_colour_it_has_on_the_board(trace):
    names = participants(trace.frames)
    board = {entry["name"]: entry["colour"] for entry in Roster(names).as_data()}
    for name in attention_choices(trace).requests:
        colour = request_colour(names, name)
        assert OKABE_ITO.index(colour) == board[name]
