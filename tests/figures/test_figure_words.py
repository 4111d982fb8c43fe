"""The figures in words and as tables: the same numbers, computed."""

import pandas as pd
import pytest
from figure_samples import OFF, attended, frame, growing, request, reserving, sharing, totals, trace

from pagedkv.figures import attention_alt, attention_table, memory_alt, memory_table
from pagedkv.settings import Settings


def test_words_for_weights_tell_size_sums_and_the_largest():
    words = attention_alt(growing(), "B", 0, 1, "kernel")
    assert words.startswith("Triton kernel: attention weights of B, layer 0, head 1")
    assert "3 queries by 6 keys in 2 blocks" in words
    assert "sum to 1 within 0." in words
    assert "Query 5, the last, gives the largest weight, 1.00, to key 5" in words


def test_words_for_the_dense_reference_are_about_its_own_sums():
    words = attention_alt(growing(), "B", 0, 1, "dense")
    assert words.startswith("Dense reference")
    assert "within 9.5e-07" in words


def test_words_for_the_difference_tell_how_far_and_where():
    words = attention_alt(growing(), "B", 1, 1, "difference")
    assert "at most 1.9e-06 apart, for query 3 and key 3" in words


def test_one_of_a_kind_is_written_in_the_singular():
    made = trace(frame(0, requests=(request("B", "R"),), attention=attended("B", 0, (0,))))
    assert "1 query by 1 key in 1 block;" in attention_alt(made, "B", 0, 0, "kernel")


def test_words_for_memory_tell_first_most_and_last():
    words = memory_alt(growing())
    assert "2 frames: 24 positions, 6 blocks of 4" in words
    assert "Stored: 6 at first, at most 8, 8 at last" in words
    assert "empty: at most 4; free: at least 12" in words
    assert "table entries" not in words
    assert "In one piece" not in words


def test_words_for_memory_tell_the_reservation_and_the_sharing_where_they_are():
    assert "20 are reserved for 6 stored, and 4 are left" in memory_alt(reserving())
    assert "4 table entries point to 2 blocks" in memory_alt(sharing())


def test_words_for_memory_tell_what_cannot_be_used():
    settings = Settings(block_size=5, capacity=23)
    made = trace(frame(0, use=totals(3, 2, capacity=20, blocks=1)), settings=settings)
    assert "3 positions make no whole block" in memory_alt(made)
    assert "no whole block" not in memory_alt(growing())


@pytest.mark.parametrize("part", ["kernel", "dense", "difference"])
def test_wrong_choices_are_named(part):
    with pytest.raises(ValueError, match="layer is 7; it must be one of 0, 1"):
        attention_alt(growing(), "B", 7, 0, part)


def test_the_attention_table_lists_what_each_query_sees_and_nothing_masked():
    table = attention_table(growing(), "B", 0, 1)
    assert len(table) == 4 + 5 + 6
    assert not table.isna().any(axis=None)
    last = table.iloc[-1]
    assert (last["query"], last["key"], last["kernel weight"]) == (5, 5, 1.0)
    assert (last["logical block"], last["physical block"]) == ("L1", "P0")
    assert last["difference"] == OFF
    assert table.iloc[-2]["key token"] == "␣"


def test_weights_of_each_query_in_the_table_sum_to_one():
    sums = attention_table(growing(), "B", 0, 0).groupby("query")["kernel weight"].sum()
    assert sums.to_list() == pytest.approx([1, 1, 1])


def test_the_memory_table_has_a_row_for_each_frame():
    table = memory_table(sharing())
    assert table["frame"].to_list() == [1, 2]
    assert table["stored"].to_list() == [6, 8]
    assert table["table entries"].to_list() == [4, 4]
    assert table["blocks in use"].to_list() == [2, 3]
    assert "reserved in one piece" not in table


def test_the_memory_table_has_the_reservation_where_a_frame_shows_it():
    table = memory_table(reserving())
    assert table["reserved in one piece"].to_list()[:2] == [20, 20]
    assert pd.isna(table["reserved in one piece"][2])
