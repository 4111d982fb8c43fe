"""The matrix behind the attention figure: its rows and columns, and what stands in them."""

import numpy as np
import pytest
from figure_samples import OFF, attended, frame, growing, request, trace, view

from pagedkv.figures import PARTS, attention_choices
from pagedkv.figures.attention_data import BlockSpan, attention_map


def test_choices_are_the_requests_that_attended_and_every_layer_and_head():
    choices = attention_choices(growing())
    assert choices.requests == ("B",)
    assert choices.layers == (0, 1)
    assert choices.heads == (0, 1)


def test_choices_of_requests_stand_in_order_of_appearance():
    late_first = (*attended("C", 0, (1,)), *attended("B", 0, (0,)))
    both = (request("B", "R"), request("C", "J"))
    assert attention_choices(trace(frame(0, requests=both, attention=late_first))).requests == (
        "B",
        "C",
    )


def test_a_trace_without_attention_offers_no_choice():
    choices = attention_choices(trace(frame(0)))
    assert (choices.requests, choices.layers, choices.heads) == ((), (), ())


def test_rows_are_the_positions_that_attended_and_columns_all_that_they_saw():
    attention = attention_map(growing(), "B", 0, 0)
    assert [query.position for query in attention.queries] == [3, 4, 5]
    assert [key.position for key in attention.keys] == [0, 1, 2, 3, 4, 5]
    assert attention.kernel.shape == attention.dense.shape == (3, 6)


def test_rows_tell_character_context_length_and_frame():
    last = attention_map(growing(), "B", 0, 0).queries[-1]
    assert (last.position, last.token, last.context_length, last.frame) == (5, "<", 6, 1)


def test_columns_tell_character_and_block():
    key = attention_map(growing(), "B", 0, 0).keys[4]
    assert (key.token, key.logical_block, key.block_id) == (" ", 1, 0)


def test_a_position_after_the_query_is_blank_and_not_zero():
    attention = attention_map(growing(), "B", 0, 1)
    assert attention.seen.tolist() == [
        [True, True, True, True, False, False],
        [True, True, True, True, True, False],
        [True] * 6,
    ]
    assert (np.isnan(attention.kernel) == ~attention.seen).all()
    assert attention.kernel[0, 0] == 0  # seen, and given no weight


@pytest.mark.parametrize("head", [0, 1])
def test_rows_of_weights_sum_to_one(head):
    sums = attention_map(growing(), "B", 0, head).row_sums("kernel")
    assert sums == pytest.approx([1, 1, 1])


def test_values_are_those_of_the_chosen_layer_and_head():
    assert attention_map(growing(), "B", 1, 0).kernel[0, 0] == pytest.approx(1 / 4)
    assert attention_map(growing(), "B", 0, 1).largest_difference == OFF
    assert attention_map(growing(), "B", 1, 1).largest_difference == 2 * OFF


def test_difference_is_kernel_minus_dense():
    assert attention_map(growing(), "B", 0, 1).difference[2, 5] == OFF


def test_columns_are_spanned_block_by_block():
    spans = attention_map(growing(), "B", 0, 0).spans
    assert spans == (BlockSpan(0, 4, 0, 3), BlockSpan(4, 2, 1, 0))


def test_the_latest_of_several_attentions_of_a_position_counts():
    b = (request("B", "ROM"),)
    twice = trace(
        frame(0, requests=b, attention=attended("B", 2, (3,))),
        frame(1, requests=b, attention=attended("B", 2, (5,))),
    )
    attention = attention_map(twice, "B", 0, 0)
    assert [query.frame for query in attention.queries] == [1]
    assert attention.spans == (BlockSpan(0, 3, 0, 5),)


def test_a_column_names_the_block_in_which_the_furthest_query_found_it():
    b = (request("R1", "To be", (0, 2)),)
    copied = trace(
        frame(0, requests=b, attention=attended("R1", 3, (1,))),
        frame(1, requests=b, attention=attended("R1", 4, (2, 6))),
    )
    assert [key.block_id for key in attention_map(copied, "R1", 0, 0).keys] == [2, 2, 2, 2, 6]


def test_a_value_that_is_no_number_is_not_passed_over():
    broken = view("B", 2, 0, (3,))
    broken.paged[1, 0] = np.nan
    attention = attention_map(
        trace(frame(0, requests=(request("B", "ROM"),), attention=(broken,))), "B", 0, 1
    )
    assert np.isnan(attention.largest_difference)
    assert np.isnan(attention.row_sums("kernel")).all()


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (("X", 0, 0), "request is 'X'; it must be one of B"),
        (("C", 0, 0), "request is 'C'; it must be one of B"),
        (("B", 2, 0), "layer is 2; it must be one of 0, 1"),
        (("B", -1, 0), "layer is -1; it must be one of 0, 1"),
        (("B", 0, 9), "head is 9; it must be one of 0, 1"),
        (("B", True, 0), "layer is True; it must be one of 0, 1"),
    ],
)
def test_a_choice_that_there_is_not_is_named_with_those_there_are(choice, words):
    with pytest.raises(ValueError, match=words):
        attention_map(growing(), *choice)


def test_a_trace_without_attention_is_refused_in_words():
    with pytest.raises(ValueError, match="'made-up' holds no attention"):
        attention_map(trace(frame(0)), "B", 0, 0)


def test_a_part_that_there_is_not_is_named():
    attention = attention_map(growing(), "B", 0, 0)
    with pytest.raises(ValueError, match="part is 'sum'; it must be one of kernel, dense, diff"):
        attention.values("sum")
    assert PARTS == ("kernel", "dense", "difference")
